# The official environment: what a result that may be cited was made in. `scripts/image build` drives this file.
#
#   parser   the AVAP parser as a service, and nothing that it does not need
#   runner   everything: `assay`, Ray's head and workers
#
# The base is given with its digest and has no default, so that no build depends on the day it was made. Packages are
# those of constraints.txt, installed by scripts/setup: the script that every test runs in the environment of.
ARG PYTHON_IMAGE

FROM ${PYTHON_IMAGE} AS base
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PATH=/opt/assay/.venv/bin:$PATH
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates rsync \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 assay \
    && install --directory --owner assay --group assay /data
WORKDIR /opt/assay

FROM base AS sources
COPY pyproject.toml constraints.txt README.md ./
COPY scripts scripts
COPY core core
COPY experiments experiments
COPY configs configs

FROM sources AS parser-build
RUN scripts/setup parser

FROM sources AS runner-build
ARG UV_TORCH_BACKEND=
RUN scripts/setup all

FROM base AS parser
COPY --from=parser-build /opt/assay /opt/assay
USER assay
EXPOSE 50051
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["assay", "parser", "info", "localhost:50051"]
CMD ["assay", "parser", "serve", "--host", "0.0.0.0"]

FROM base AS runner
COPY --from=runner-build /opt/assay /opt/assay
# Written by scripts/image: which commit this code is of. It is refused at run time if it is not.
COPY provenance.json /opt/assay/provenance.json
ENV ASSAY_PROVENANCE=/opt/assay/provenance.json \
    ASSAY_RESULTS=/data/results \
    ASSAY_CACHE=/data/cache \
    RAY_USAGE_STATS_ENABLED=0
USER assay
WORKDIR /data
VOLUME /data
# No entrypoint: Ray's launcher and KubeRay bring commands of their own.
CMD ["assay", "--help"]
