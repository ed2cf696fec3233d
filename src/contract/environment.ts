/** The prefix of variables that svc sets in a sandbox (spec 2.8). No secret of a project may use it. */
export const RESERVED_PREFIX = "SVC_";

/** Names that would break a sandbox, its daemon or its runtime, or run code in them. */
const RESERVED = [
  "PATH",
  "HOME",
  "SHELL",
  "USER",
  "LOGNAME",
  "PWD",
  "OLDPWD",
  "TMPDIR",
  "PORT",
  "IFS",
  "ENV",
  "BASH_ENV",
  "NODE_OPTIONS",
  "NODE_PATH",
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "PYTHONSTARTUP",
  "PERL5OPT",
  "RUBYOPT",
  "JAVA_TOOL_OPTIONS",
] as const;
const RESERVED_PREFIXES = [RESERVED_PREFIX, "LD_", "DYLD_", "OPENCODE_", "GIT_", "NPM_CONFIG_"] as const;

/** Valid names of secrets. */
export const SECRET_NAME = /^[A-Z_][A-Z0-9_]{0,63}$/;
/** Names that are reserved for svc or the system. */
export const RESERVED_NAME = new RegExp(`^(?:${RESERVED_PREFIXES.join("|")})|^(?:${RESERVED.join("|")})$`);

/** Whether a name is reserved for svc or the system, so that no secret may use it. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAME.test(name.toUpperCase());
}
