import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { git } from "./git.ts";
import { findProgram, start, untilListening } from "./programs.ts";
import type { Workbench } from "./workbench.ts";

/** What serves git elsewhere: nginx, which has fcgiwrap start `git http-backend`. */
export interface HttpBackend {
  /** Makes an empty repository that takes pushes from anyone; its URL. */
  create(name: string): Promise<string>;
}

/** Of each of the two: a git command makes one request at a time. */
const WORKERS = 4;

/**
 * Starts it on loopback, with its configuration and all its files in the bench's folder.
 * @returns a sentence when this machine lacks a part of it
 */
export async function startHttpBackend(bench: Workbench): Promise<HttpBackend | { missing: string }> {
  const [nginx, fcgiwrap] = ["nginx", "fcgiwrap"].map(findProgram);
  if (!nginx || !fcgiwrap) return { missing: `${nginx ? "fcgiwrap" : "nginx"} is not installed` };
  const folder = bench.folder("http-backend");
  const root = join(folder, "repositories");
  mkdirSync(root);
  const socket = join(folder, "fcgi.sock");
  const port = freePort();
  const program = join(await git(folder, ["--exec-path"]), "git-http-backend");
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration({ folder, root, socket, port, program }));
  start(bench, folder, [fcgiwrap, "-c", String(WORKERS), "-s", `unix:${socket}`]);
  start(bench, folder, [nginx, "-p", folder, "-e", "stderr", "-c", file]);
  const url = `http://127.0.0.1:${port}`;
  await untilListening(url);
  return {
    async create(name) {
      const path = join(root, `${name}.git`);
      await git(root, ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", path]);
      // it would pack in the middle of a later round
      await git(path, ["config", "receive.autogc", "false"]);
      return `${url}/${name}.git`;
    },
  };
}

interface Places {
  folder: string;
  root: string;
  socket: string;
  port: number;
  /** `git-http-backend`. */
  program: string;
}

/** Nothing is gathered before it is passed on, in either direction: that is its fastest way. */
function configuration({ folder, root, socket, port, program }: Places): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const parameters = {
    SCRIPT_FILENAME: program,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_PROTOCOL: "$http_git_protocol",
    PATH_INFO: "$uri",
    QUERY_STRING: "$query_string",
    REQUEST_METHOD: "$request_method",
    CONTENT_TYPE: "$content_type",
    CONTENT_LENGTH: "$content_length",
    // whoever has a name may push
    REMOTE_USER: "bench",
  };
  return [
    // its workers would be nobody's, and could not reach the socket
    process.getuid?.() === 0 ? "user root;" : "",
    "daemon off;",
    `pid ${join(folder, "nginx.pid")};`,
    `worker_processes ${WORKERS};`,
    "events {}",
    "http {",
    "access_log off;",
    ...temporary.map((name) => `${name}_temp_path ${join(folder, name)};`),
    "server {",
    `listen 127.0.0.1:${port};`,
    "client_max_body_size 0;",
    "location / {",
    `fastcgi_pass unix:${socket};`,
    "fastcgi_request_buffering off;",
    "fastcgi_buffering off;",
    ...Object.entries(parameters).map(([name, value]) => `fastcgi_param ${name} ${value};`),
    "}}}",
  ].join("\n");
}
