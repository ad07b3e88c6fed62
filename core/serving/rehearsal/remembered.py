"""Correct AVAP programs that a model which had read AVAP in its training could write down without any documentation.

They stand in no corpus and no few-shot pool of ours, so that whatever finds them in an answer finds a memory.
"""

from __future__ import annotations

PROGRAMS = (
    """addParam("city", city)
encodeSHA256(city, city_digest)
addResult(city_digest)""",
    """addParam("height_cm", height_cm)
tallest = 0
startLoop(step, 1, 4)
    tallest = tallest + int(height_cm)
endLoop()
addResult(tallest)""",
    """getDateTime("%Y", 0, "UTC", this_year)
addVar(greeting, this_year)
addResult(greeting)""",
    """addParam("colour", colour)
if(colour, "teal", "==")
    addVar(mood, "calm")
else()
    addVar(mood, "restless")
end()
addResult(mood)""",
    """try()
    RequestGet("https://weather.example.org/now", "", "", forecast)
    addResult(forecast)
exception(weather_error)
    addVar(_status, 503)
    addResult(weather_error)
end()""",
    """function doubled_rainfall(millimetres){
    return(millimetres * 2)
}
rain = doubled_rainfall(17)
addResult(rain)""",
    """randomString("[a-f]", 12, voucher_code)
addResult(voucher_code)""",
    """addParam("winters", winters)
getListLen(winters, winter_count)
addResult(winter_count)""",
)
