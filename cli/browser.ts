import type { Context } from "./context.ts";
import type { System } from "./system.ts";

/** Whether a person sits at this machine, whose browser a page can be opened in. */
export function hasBrowser({ system, sandbox, canAsk }: Context): boolean {
  return canAsk() && !sandbox && !system.env["SSH_CONNECTION"];
}

/** Opens a page with SVC_BROWSER, BROWSER or the system's default browser. Returns whether a program was started. */
export async function openBrowser({ env }: System, url: string): Promise<boolean> {
  // The system's opener starts any program for a URL that is not http.
  if (!/^https?:\/\//i.test(url)) return false;
  const chosen = env["SVC_BROWSER"] || env["BROWSER"];
  const commands = chosen ? [chosen.split(" ").filter(Boolean)] : ofThisSystem();
  for (const command of commands) {
    if (!command[0] || !Bun.which(command[0], { PATH: env["PATH"] ?? "" })) continue;
    try {
      Bun.spawn([...command, url], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        env: withoutRuntime(env),
        // in a session of its own: a terminal that closes when svc ends must not end a browser that is starting
        detached: true,
      }).unref();
      return true;
    } catch {}
  }
  return false;
}

function ofThisSystem(): string[][] {
  if (process.platform === "darwin") return [["open"]];
  if (process.platform === "win32") return [["rundll32", "url.dll,FileProtocolHandler"]];
  return [["wslview"], ["xdg-open"]];
}

/** The environment for other programs: without the variables that change how a Bun binary runs. */
export function withoutRuntime(env: System["env"]): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !["BUN_OPTIONS", "BUN_BE_BUN"].includes(name)) copy[name] = value;
  }
  return copy;
}
