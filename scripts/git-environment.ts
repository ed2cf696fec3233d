/** Disables background work of git, in repositories that others read or that are removed. */
const NO_MAINTENANCE = { "gc.auto": "0", "gc.autoDetach": "false", "maintenance.auto": "false" };

/**
 * The environment of git in tests and benchmarks: no user or system settings, no prompts, no background processes.
 */
export const GIT_ENVIRONMENT: Record<string, string> = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_CONFIG_COUNT: `${Object.keys(NO_MAINTENANCE).length}`,
  ...Object.fromEntries(
    Object.entries(NO_MAINTENANCE).flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};
