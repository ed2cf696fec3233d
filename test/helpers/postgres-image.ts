import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyPostgres } from "../../scripts/postgres-server.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";

/** The image that stands in for the official one, which tests cannot pull. */
export const POSTGRES_IMAGE = "svc-test-postgres";

/** The variables, the folder and the port are those of the official image. */
const ENTRYPOINT = `#!/bin/bash
set -e
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R 65534:65534 "$PGDATA"
  exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=<(printf %s "$POSTGRES_PASSWORD") \\
    --auth-host=scram-sha-256 --auth-local=reject --encoding=UTF8 --locale=C --no-sync
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  echo "create database \\"$POSTGRES_DB\\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp -c fsync=off
`;
const IS_READY = "#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/5432\n";

/**
 * Builds the image in the engine, from Postgres's npm package and the engine's Debian.
 * @throws Error with Docker's reason
 */
export function buildPostgresImage(host: string): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-postgres-image-"));
  try {
    if (copyPostgres(folder) === null) throw new Error("npm has no Postgres for this machine");
    mkdirSync(join(folder, "tools"));
    for (const [name, text] of [
      ["entrypoint", ENTRYPOINT],
      ["pg_isready", IS_READY],
    ] as const) {
      writeFileSync(join(folder, "tools", name), text);
      chmodSync(join(folder, "tools", name), 0o755);
    }
    writeFileSync(
      join(folder, "Dockerfile"),
      `FROM debian:bookworm-slim
COPY programs /opt/postgres
COPY tools /usr/local/bin
ENV PATH=/opt/postgres/bin:/usr/local/bin:/usr/bin:/bin
STOPSIGNAL SIGINT
ENTRYPOINT ["entrypoint"]
`,
    );
    const { success, stderr } = Bun.spawnSync(["docker", "build", "--tag", POSTGRES_IMAGE, folder], {
      env: { ...process.env, DOCKER_HOST: host },
      timeout: WAIT_LIMIT_MS,
    });
    if (!success) throw new Error(stderr.toString());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
