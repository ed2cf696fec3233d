/** Git that goes on in the background would work in a repository that somebody else reads, or that is gone. */
const NO_MAINTENANCE = { "gc.auto": "0", "gc.autoDetach": "false", "maintenance.auto": "false" };

/**
 * git as a person would run it: no settings of anybody's, no prompts, and nothing but what the commands say. When a
 * command has ended, nothing of it goes on.
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
