# The image of sandboxes of projects without a Dockerfile. svc adds its own programs and the agent runtime. nftables is for
# the container that owns a sandbox's network namespace; in the sandbox itself no process has the capability to use it.
FROM debian:bookworm-slim
ARG PACKAGES="git ca-certificates openssh-client curl less ripgrep procps patch unzip xz-utils nftables"
# Without network access if the base image has the packages.
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $PACKAGES \
  && rm -rf /var/lib/apt/lists/*; }
RUN useradd --uid 1000 --user-group --home-dir /opt/svc/home --no-create-home --shell /bin/bash agent
