#!/usr/bin/env node
// Installs the packages and runs the pinned Bun: `node scripts/with-bun.mjs <arguments of Bun>`.
// Requires only Node and npm: Bun is installed from its npm package into a cache folder of the user.
// Uses plain Node without packages, because it runs before they are installed. Prints progress to stderr.
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants, homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** package.json defines the version of Bun; bun-runtimes.json has the checksums of its packages. */
const PACKAGE = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const VERSION = PACKAGE.packageManager.replace("bun@", "");
const PARENT_CHECK_MS = 500;
const WINDOWS = process.platform === "win32";

try {
  requireNode();
  const bun = bunOnPath() ?? bunInCache();
  installPackages(bun);
  run(bun, process.argv.slice(2));
} catch (error) {
  fail(error.message);
}

function requireNode() {
  const wanted = Number(/\d+/.exec(PACKAGE.engines.node)[0]);
  const [here] = process.versions.node.split(".").map(Number);
  if (here < wanted) throw new Error(`svc needs Node ${wanted} or newer, and this is ${process.version}.`);
}

function bunOnPath() {
  const { stdout, status } = spawnSync("bun", ["--version"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 && stdout.trim() === VERSION ? "bun" : null;
}

/** Installs into a temporary folder, then renames it, so that concurrent runs never use an incomplete one. */
function bunInCache() {
  const name = packageName();
  const folder = join(cacheFolder(), `bun-${VERSION}-${name.replace("@oven/bun-", "")}`);
  const binary = join("node_modules", ...name.split("/"), "bin", WINDOWS ? "bun.exe" : "bun");
  if (existsSync(join(folder, binary))) return join(folder, binary);

  log(`downloading Bun ${VERSION} (once) …`);
  const unfinished = `${folder}.${randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    npm([
      "install",
      "--prefix",
      unfinished,
      "--ignore-scripts",
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `${name}@${VERSION}`,
    ]);
    checkIntegrity(unfinished, name);
    const { stdout } = spawnSync(join(unfinished, binary), ["--version"], { encoding: "utf8" });
    if (stdout?.trim() !== VERSION)
      throw new Error(`the downloaded Bun does not run on this machine (${name}).`);
    try {
      renameSync(unfinished, folder);
    } catch (error) {
      if (!existsSync(join(folder, binary))) throw error;
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return join(folder, binary);
}

function packageName() {
  const system = { linux: "linux", darwin: "darwin", win32: "windows" }[process.platform];
  const processor = { x64: "x64", arm64: "aarch64" }[process.arch];
  const libc = system === "linux" && !process.report.getReport().header.glibcVersionRuntime ? "-musl" : "";
  const name = `@oven/bun-${system}-${processor}${libc}`;
  if (!checksums()[name]) throw new Error(`Bun does not support ${process.platform} ${process.arch}.`);
  return name;
}

function cacheFolder() {
  if (WINDOWS) return join(process.env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "svc", "cache");
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "svc");
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "svc");
}

function npm(words) {
  // npm sets npm_execpath for its scripts; "npm" cannot be spawned on Windows
  const cli = process.env.npm_execpath;
  const [command, ...first] = cli?.endsWith("npm-cli.js") ? [process.execPath, cli] : ["npm"];
  const { status, error } = spawnSync(command, [...first, ...words], { stdio: ["ignore", 2, 2] });
  if (status !== 0)
    throw new Error(
      `npm could not download Bun ${VERSION}${error ? `: ${error.message}` : "."}${proxyNote()}`,
    );
}

/** Names the proxy that npm and Bun use, without its credentials. */
function proxyNote() {
  const names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];
  const name = names.find((each) => process.env[each]);
  return name ? ` Check the proxy: ${name} is ${process.env[name].replace(/[^/]*@/, "")}.` : "";
}

function checkIntegrity(folder, name) {
  const lock = JSON.parse(readFileSync(join(folder, "node_modules", ".package-lock.json"), "utf8"));
  if (lock.packages[`node_modules/${name}`]?.integrity === checksums()[name]) return;
  throw new Error(`${name}@${VERSION} is not the package that scripts/bun-runtimes.json describes.`);
}

function checksums() {
  return JSON.parse(readFileSync(join(ROOT, "scripts", "bun-runtimes.json"), "utf8"));
}

/** Installs only if the inputs have changed since the last installation, so that a second start takes milliseconds. */
function installPackages(bun) {
  const stamp = join(ROOT, "node_modules", ".svc-installed");
  const wanted = packagesDigest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  log("installing packages …");
  const { status } = spawnSync(bun, ["install"], { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`cannot install the packages.${proxyNote()}`);
  writeFileSync(stamp, wanted);
}

function packagesDigest() {
  const patches = join(ROOT, "patches");
  const files = existsSync(patches)
    ? readdirSync(patches)
        .sort()
        .map((name) => join("patches", name))
    : [];
  const hash = createHash("sha256").update(`${VERSION} ${process.platform} ${process.arch}`);
  for (const file of ["package.json", "bun.lock", ...files]) hash.update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** Runs Bun and exits like it: with its exit code, or by the same signal. */
function run(bun, words) {
  let child;
  const signals = WINDOWS ? [] : ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  // before the start of Bun, so that no signal is lost
  for (const signal of signals) process.on(signal, forward);
  child = spawn(bun, words, { stdio: "inherit" });
  // a killed npm cannot forward a signal: watch the parent process instead
  const parent = process.ppid;
  const watch = setInterval(() => process.ppid !== parent && forward("SIGTERM"), PARENT_CHECK_MS);
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    clearInterval(watch);
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

function log(text) {
  process.stderr.write(`svc: ${text}\n`);
}

function fail(text) {
  log(text);
  process.exitCode = 1;
}
