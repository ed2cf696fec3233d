#!/usr/bin/env node
// The `bin` of the npm package svc-cli: runs the program of the platform's package, and exits like it. Plain Node, of
// any version since 18, without packages.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const SYSTEMS = { linux: "linux", darwin: "macos", win32: "windows" };

run(programPath(platform()), process.argv.slice(2));

/** The name of this machine's platform, as releases of svc spell it. */
function platform() {
  const system = SYSTEMS[process.platform] ?? process.platform;
  return `${system}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

function isMusl() {
  if (process.platform !== "linux") return false;
  // the report would otherwise look up the names of network peers
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

/** @returns the path of the program; ends this process with a sentence if there is none */
function programPath(name) {
  const require = createRequire(import.meta.url);
  const { optionalDependencies, version } = require("../package.json");
  const wanted = `@svc-cli/${name}`;
  if (!(wanted in optionalDependencies)) {
    const others = Object.keys(optionalDependencies).map((each) => each.replace("@svc-cli/", ""));
    fail(`svc has no program for ${name}. It has programs for: ${others.join(", ")}.`);
  }
  try {
    const folder = dirname(require.resolve(`${wanted}/package.json`));
    return join(folder, "bin", process.platform === "win32" ? "svc.exe" : "svc");
  } catch {
    fail(
      `The package ${wanted} ${version} with the program is not installed. npm leaves it out with --omit=optional, or if ` +
        "node_modules comes from another system. Install again: npm install --include=optional svc-cli",
    );
  }
}

function run(program, words) {
  let child;
  const signals = process.platform === "win32" ? [] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
  const forward = (signal) => child.kill(signal);
  // a terminal sends SIGINT and SIGQUIT to both: this process only waits
  for (const signal of signals)
    process.on(signal, process.stdin.isTTY && /INT|QUIT/.test(signal) ? () => {} : forward);
  child = spawn(program, words, { stdio: "inherit" });
  child.on("error", (error) => fail(`Cannot run ${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.removeAllListeners(signal ?? "");
    if (signal) process.kill(process.pid, signal);
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function fail(text) {
  process.stderr.write(`error: ${text}\n`);
  process.exit(1);
}
