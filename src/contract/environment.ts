/** Names that svc gives to a sandbox (spec 2.8). The prefix is svc's own: no secret of a project may use it. */
export const RESERVED_PREFIX = "SVC_";

/** Names that would break a sandbox, its daemon or its runtime, or let a secret run code in them. */
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

/** What a project's secret may be called. */
export const SECRET_NAME = /^[A-Z_][A-Z0-9_]{0,63}$/;
/** Those of such names that are svc's or the system's. */
export const RESERVED_NAME = new RegExp(`^(?:${RESERVED_PREFIXES.join("|")})|^(?:${RESERVED.join("|")})$`);

/** Whether a name is svc's or the system's, so that no secret may have it. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAME.test(name.toUpperCase());
}
