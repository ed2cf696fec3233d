/** A git configuration key and its value, given to one process only. */
export type Setting = readonly [key: string, value: string];

/**
 * The environment of every git process: only the search path and the operator's proxies of the server's environment, no
 * configuration files of the host (`merge.renormalize` alone would abort merges), no prompts, no hooks, no protocols
 * that a command does not name, no replace refs.
 * @param directory an empty directory: HOME and working directory of git, so that it finds no other repository
 */
export function baseEnvironment(directory: string): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: directory,
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_CEILING_DIRECTORIES: directory,
    GIT_FLUSH: "1",
  };
  for (const name of PROXY_VARIABLES) {
    const value = process.env[name];
    if (value) environment[name] = value;
  }
  return environment;
}

/** Adds settings to an environment; git reads them like `-c`, but they are not in the process list. */
export function withSettings(
  environment: Record<string, string>,
  settings: readonly Setting[],
): Record<string, string> {
  const all = [...HARDENING, ...settings];
  const result: Record<string, string> = { ...environment, GIT_CONFIG_COUNT: String(all.length) };
  for (const [index, [key, value]] of all.entries()) {
    result[`GIT_CONFIG_KEY_${index}`] = key;
    result[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return result;
}

/** Whether svc reaches http(s) hosts through a proxy of the operator: it resolves names, so pinning does not apply. */
export function hasProxy(): boolean {
  return PROXY_VARIABLES.some((name) => name.toLowerCase() !== "no_proxy" && Boolean(process.env[name]));
}

const PROXY_VARIABLES = [
  "http_proxy",
  "https_proxy",
  "HTTPS_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "no_proxy",
  "NO_PROXY",
];

/** Settings that files of the host, defaults of a newer git and repositories must not change. */
const HARDENING: readonly Setting[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.quotePath", "false"],
  ["core.useReplaceRefs", "false"],
  // other git processes of ours may hold a lock for a moment
  ["core.filesRefLockTimeout", "2000"],
  ["core.packedRefsTimeout", "10000"],
  ["credential.helper", ""],
  ["protocol.allow", "never"],
  ["protocol.version", "2"],
  ["http.followRedirects", "false"],
  ["transfer.bundleURI", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "0"],
  ["advice.detachedHead", "false"],
  ["push.gpgSign", "false"],
  ["push.followTags", "false"],
  ["push.recurseSubmodules", "no"],
  ["fetch.recurseSubmodules", "no"],
  ["fetch.fsckObjects", "true"],
  // written by old versions of git and of importers; harmless, and many well-known repositories hold them
  ["fetch.fsck.missingSpaceBeforeDate", "ignore"],
  ["fetch.fsck.badTimezone", "ignore"],
  ["fetch.fsck.zeroPaddedFilemode", "ignore"],
  ["fetch.fsck.badFilemode", "ignore"],
  // every fetch leaves one pack, so that only packs have to be counted and limited
  ["fetch.unpackLimit", "1"],
  // ten times faster merge bases in large histories
  ["fetch.writeCommitGraph", "true"],
];
