"""Words of no weight in both languages, the Spanish words of the manuals with their English ones, and synonyms.

The corpus, the questions and the reference answers may be in different languages. Judging by shared words needs one
vocabulary, so Spanish words are read as the English words that the manuals use for the same thing.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
cannot could did do does doing don down during each either else few for from further get gets had has have having he
her here hers him his how however i if in instead into is it its itself just know let like make makes many may me
might more most much must my need needs no nor not now of off on once one only or other our out over own please
possible same shall she should show since so some such tell than that the their them then there these they thing this
those through thus to too two under until up upon us use used uses using very via want was way we well were what when
where whether which while who whom whose why will with within without work works would write you your example examples
explain avap difference differences different differ differs find given give gives happen happens see seen least new
"""

_SPANISH = """
a al algo algun alguna algunas alguno algunos ante antes aquel asi aun aunque avap bajo bien cada casi como con contra
cual cuales cualquier cuando cuanto cuantos da de debe deben decir del desde despues dice donde dos durante e el ella
ellas ello ellos en entonces entre era es esa esas ese eso esos esta estan estar estas este esto estos estoy explica
explicame fue ha hace hacen hacer hacia han hasta hay he la las le les lo los mas me mi mientras misma mismo muestra
muestrame mucho muy nada ni no nos nosotros o os otra otras otro otros para parte pero poco por porque pues puede
pueden puedo que quien quiero se sea sean segun ser si sido siempre sin sino sobre solo son su sus tal tambien tan
tanto te tener tengo ti tiene tienen toda todas todo todos tras tu tus u un una unas uno unos usa usan usar uso
diferencia diferencias diferente diferentes distinto distinta conviene ocurre pasa todavia sirve sirven llama llaman
utiliza utilizan utilizar va vez y ya yo ejemplo ejemplos escribe
"""

_PAIRS = """
abierto:open abrir:open acceso:access acepta:accept actual:current actualiza:update actualizar:update
actualizacion:update alcance:scope almacena:store almacenar:store ambito:scope anade:add anadir:add anidado:nested
anidar:nested antiguo:old aparece:appear aplica:apply archivo:file argumento:argument argumentos:argument
asigna:assign asignacion:assign asignar:assign ausente:absent base:database biblioteca:library bloque:block
borra:delete borrar:delete bucle:loop bucles:loop busca:search buscar:search cabecera:header cabeceras:header
cadena:string cadenas:string cambia:change cambiar:change campo:field campos:field captura:catch capturar:catch
cero:zero cierra:close cerrar:close clave:key claves:key codigo:code columna:column columnas:column comando:command
comandos:command comentario:comment comilla:quote comillas:quote comparacion:comparison comparar:compare
comprueba:check comprobar:check concurrencia:concurrency concurrente:concurrent condicion:condition
condicional:conditional conector:connector conexion:connection constante:constant consulta:query consultar:query
contador:counter contrasena:password convierte:convert convertir:convert crea:create crear:create creacion:create
cuerpo:body dato:data datos:data declaracion:declaration declarar:declare declaro:declare defecto:default
define:define definir:define definicion:define dentro:inside desplazamiento:offset destino:target devolver:return
devuelve:return devuelto:return diccionario:dictionary direccion:address distinto:different ejecuta:run ejecutar:run
ejecucion:run elemento:element elementos:element elimina:delete eliminar:delete empieza:start empezar:start
encuentra:find enlace:link entero:integer entrada:input entregar:deliver envia:send enviar:send error:error
errores:error espera:wait esperar:wait esquema:schema estado:status excepcion:exception existe:exist
expresion:expression expresiones:expression extrae:extract extraer:extract falla:fail fallo:failure falso:false
fecha:date fechas:date fila:row filas:row filtra:filter filtrar:filter formato:format funcion:function
funciones:function genera:generate generar:generate global:global guarda:store guardar:store hilo:thread hilos:thread
hora:time huella:hash igual:equal importa:import importar:import incluye:include incluir:include inclusivo:inclusive
indice:index inserta:insert insertar:insert insercion:insert interior:inner intermedio:middleware itera:iterate
iterar:iterate lanza:launch lanzar:launch lectura:read lee:read leer:read lenguaje:language lenguajes:language
limite:limit linea:line lineas:line lista:list listas:list llama:call llamada:call llamar:call local:local
longitud:length maneja:handle manejar:handle mayor:greater mayusculas:uppercase mensaje:message metodo:method
metodos:method milisegundos:millisecond minusculas:lowercase modo:mode modulo:module modulos:module nombre:name
nombres:name nuevo:new numero:number numeros:number objeto:object obtener:obtain obtiene:obtain opcional:optional
operador:operator orden:order palabra:word palabras:word parametro:parameter parametros:parameter
parentesis:parenthesis paso:step patron:pattern pedir:request peticion:request peticiones:request plantilla:template
posicion:position primer:first primero:first primera:first principal:main programa:program prueba:test punto:point
raiz:root rango:range recibe:receive recibir:receive recoge:gather recoger:gather recorre:iterate recorrer:iterate
recupera:retrieve recuperar:retrieve reemplaza:replace reemplazar:replace registra:register registrar:register
registro:record registros:record repite:repeat repetir:repeat reservada:reserved reservadas:reserved
respuesta:response respuestas:response resultado:result resultados:result ruta:path rutas:path salida:output
sangria:indentation segundo:second segundos:second seguridad:security selecciona:select seleccionar:select
sentencia:statement sentencias:statement servidor:server siguiente:next sintaxis:syntax sistema:system suma:add
sumar:add tabla:table tablas:table tarea:task tareas:task terminar:end termina:end texto:text textos:text tiempo:time
tipo:type tipos:type trata:handle ultimo:last usuario:user usuarios:user vacia:empty vacio:empty valida:valid
validar:validate valido:valid valor:value valores:value variable:variable varios:several verdadero:true
version:version zona:zone
"""

_SYNONYMS = """
begin:start finish:end terminate:end stop:end compute:calculate digest:hash invoke:call fetch:obtain get:obtain
keep:store save:store hold:contain integer:number int:number dictionary:object dict:object param:parameter err:error
exception:error upper:greater picked:choose
"""

ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
SPANISH_STOP_WORDS = frozenset(_SPANISH.split())
STOP_WORDS = ENGLISH_STOP_WORDS | SPANISH_STOP_WORDS

SPANISH_TO_ENGLISH: dict[str, str] = dict(pair.split(":") for pair in _PAIRS.split())
"""Spanish word, without accents -> the English word of the manuals."""

ENGLISH_SYNONYMS: dict[str, str] = dict(pair.split(":") for pair in _SYNONYMS.split())
"""English word -> the one that is counted in its place."""
