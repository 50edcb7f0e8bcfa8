# Two images. Name the base image by its digest, as `docker buildx imagetools inspect python:3.11-slim` prints it:
#
#   docker build --target board  --build-arg BASE=python:3.11-slim@sha256:… -t hannun-board .
#   docker build --target worker --build-arg BASE=python:3.11-slim@sha256:… -t hannun-worker .
#
# With --build-arg COMMIT=$(git rev-parse HEAD), results name the commit of this code.
#
#   board    the web application without a worker: no torch
#   worker   the evaluator. For CUDA, the default; for the CPU build, --build-arg TORCH=torch==2.13.0+cpu and, with
#            --secret id=pip,src=pip.conf, a pip.conf that names the index that has it. A build argument would keep
#            its credentials in the image.
#
# The worker builds a sandbox of its own for each model, which needs user namespaces. Docker's default profiles forbid them:
#   docker run --init --security-opt seccomp=assets/deploy/seccomp.json --security-opt systempaths=unconfined \
#     --security-opt apparmor=unconfined …

ARG BASE
FROM ${BASE} AS base
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --create-home --uid 1000 hannun && mkdir -p /app /data && chown hannun:hannun /app /data
WORKDIR /app
COPY requirements.lock ./
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    pip install --require-hashes --no-deps -r requirements.lock
ENV HANNUN_STORE=/data/store.git HANNUN_PRIVATE_STORE=/data/private HANNUN_WORK_DIR=/data/work
VOLUME /data

FROM base AS board
COPY --chown=hannun:hannun app.py ./
COPY --chown=hannun:hannun assets assets
COPY --chown=hannun:hannun evaluator evaluator
COPY --chown=hannun:hannun leaderboard leaderboard
COPY --chown=hannun:hannun submissions submissions
ARG COMMIT=
RUN echo "$COMMIT" > COMMIT && python -m compileall -q evaluator leaderboard submissions
ENV HANNUN_WORKER=off HANNUN_HOST=0.0.0.0 HANNUN_PORT=7860 MALLOC_ARENA_MAX=2
USER hannun
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"HANNUN_PORT\"]}/healthz', timeout=5)"]
CMD ["python", "app.py"]

FROM base AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git libseccomp2 \
    && rm -rf /var/lib/apt/lists/*
ARG TORCH=
COPY evaluator/requirements.lock evaluator/torch-cuda.lock evaluator/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    pip install --require-hashes --no-deps -r evaluator/requirements.lock \
    && if [ -n "$TORCH" ]; then pip install "$TORCH"; \
       else pip install --require-hashes --no-deps -r evaluator/torch-cuda.lock; fi
COPY --chown=hannun:hannun app.py ./
COPY --chown=hannun:hannun assets assets
COPY --chown=hannun:hannun evaluator evaluator
COPY --chown=hannun:hannun leaderboard leaderboard
COPY --chown=hannun:hannun scripts scripts
COPY --chown=hannun:hannun submissions submissions
RUN python -m scripts.torchvision_operators
ARG COMMIT=
RUN echo "$COMMIT" > COMMIT && python -m compileall -q evaluator leaderboard submissions
USER hannun
CMD ["python", "-m", "evaluator", "worker"]
