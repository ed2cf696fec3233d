# What a sandbox is made of where the project has no Dockerfile of its own: enough to clone, to look around and to
# fetch more. svc adds its own programs and the agent runtime. nftables is for the fence around a sandbox's network;
# within a sandbox nobody has the right to use it.
FROM debian:bookworm-slim
ARG PACKAGES="git ca-certificates openssh-client curl less ripgrep procps patch unzip xz-utils nftables"
# A base that has them already needs no network.
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $PACKAGES \
  && rm -rf /var/lib/apt/lists/*; }
RUN useradd --uid 1000 --user-group --home-dir /opt/svc/home --no-create-home --shell /bin/bash agent
