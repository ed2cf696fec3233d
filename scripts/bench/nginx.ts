import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { start, untilListening } from "./programs.ts";
import type { Workbench } from "./workbench.ts";

interface Nginx {
  port: number;
  workers: number;
  /** Directives of the `http` block, and of the `server` block. */
  http?: readonly string[];
  server: readonly string[];
  /** A command prefix. With one, it is not waited for, since it may listen in another network namespace. */
  within?: readonly string[];
}

/** Temporary folders of nginx, which are system folders by default. */
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/**
 * Starts an nginx on loopback with all of its files in the folder of the benchmark: no logs, keep-alive connections, and
 * bodies of any size.
 * @returns its URL, once it answers
 */
export async function startNginx(
  bench: Workbench,
  program: string,
  { port, workers, http = [], server, within = [] }: Nginx,
): Promise<string> {
  const folder = bench.folder("nginx");
  const lines = [
    // as the user nobody its workers could not read the files of the benchmark
    process.getuid?.() === 0 ? "user root;" : "",
    "daemon off;",
    `pid ${join(folder, "nginx.pid")};`,
    `worker_processes ${workers};`,
    "worker_rlimit_nofile 20000;",
    "events { worker_connections 8192; }",
    "http {",
    "access_log off;",
    "keepalive_requests 1000000000;",
    ...TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`),
    ...http,
    `server { listen 127.0.0.1:${port}; client_max_body_size 0; ${server.join(" ")} }`,
    "}",
  ];
  const file = join(folder, "nginx.conf");
  writeFileSync(file, lines.join("\n"));
  start(bench, folder, [...within, program, "-p", folder, "-e", "stderr", "-c", file]);
  const url = `http://127.0.0.1:${port}`;
  if (within.length === 0) await untilListening(url);
  return url;
}
