# The image of this project's sandboxes, where svc runs them in Docker. svc puts its own programs and the agent runtime on
# top. ENTRYPOINT, CMD, USER and HEALTHCHECK are not used. The image needs git, and glibc (or musl with libstdc++).
#
# For a language, begin with its image: FROM node:22-bookworm, FROM python:3.13-bookworm, ...
FROM debian:bookworm-slim

# Add what your project needs to build and to run its tests: nodejs npm, python3, postgresql-client, ...
ARG PACKAGES="git ca-certificates openssh-client curl less ripgrep procps patch unzip xz-utils"

# A base that has them already needs no network.
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $PACKAGES \
  && rm -rf /var/lib/apt/lists/*; }

# What else has to be fetched is fetched by RUN curl: ADD of a URL, RUN --mount and here-documents are not available.
