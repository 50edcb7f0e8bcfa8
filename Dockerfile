# Two images: `docker build --target board .` and `docker build --target worker .`
#
#   board    the web application without a worker: no torch
#   worker   the evaluator. For CUDA, the default; for the CPU build, with the index that has it:
#            docker build --target worker --build-arg TORCH=torch==2.13.0+cpu --build-arg PIP_EXTRA_INDEX_URL=… .
#
# Packages come with hashes. To pin the base image as well: --build-arg BASE=python:3.11-slim@sha256:… .
#
# The worker builds a sandbox of its own for each model, which needs user namespaces. Docker's default profiles forbid them:
#   docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …

ARG BASE=python:3.11-slim
FROM ${BASE} AS base
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --create-home --uid 1000 hannun && mkdir -p /app /data && chown hannun:hannun /app /data
WORKDIR /app
COPY requirements.lock ./
RUN pip install --require-hashes --no-deps -r requirements.lock
ENV HANNUN_STORE=/data/store.git HANNUN_PRIVATE_STORE=/data/private HANNUN_WORK_DIR=/data/work
VOLUME /data

FROM base AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git libseccomp2 \
    && rm -rf /var/lib/apt/lists/*
ARG TORCH=
ARG PIP_EXTRA_INDEX_URL=
COPY evaluator/requirements.lock evaluator/torch-cuda.lock evaluator/
RUN pip install --require-hashes --no-deps -r evaluator/requirements.lock \
    && if [ -n "$TORCH" ]; then pip install "$TORCH"; \
       else pip install --require-hashes --no-deps -r evaluator/torch-cuda.lock; fi
COPY --chown=hannun:hannun . .
RUN python -m scripts.torchvision_operators && python -m compileall -q evaluator leaderboard submissions
USER hannun
CMD ["python", "-m", "evaluator", "worker"]

FROM base AS board
COPY --chown=hannun:hannun . .
RUN python -m compileall -q evaluator leaderboard submissions
ENV HANNUN_WORKER=off HANNUN_HOST=0.0.0.0 HANNUN_PORT=7860 MALLOC_ARENA_MAX=2
USER hannun
EXPOSE 7860
CMD ["python", "app.py"]
