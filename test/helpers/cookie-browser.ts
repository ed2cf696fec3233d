import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import type { Api, CallOptions } from "./api.ts";

/** Stores cookies like a browser, and sends requests like svc's pages. */
export interface Browser {
  /** `name=value` of the session's cookie, as it was last set. */
  cookie: string | null;
  /** Sends a request; `page: false` without the header that only svc's pages send. */
  call(method: string, path: string, options?: CallOptions & { page?: boolean }): ReturnType<Api["call"]>;
}

export const PASSWORD = "correct horse battery staple";

/** A browser without a signed-in user. */
export function openBrowser(api: Pick<Api, "call">): Browser {
  const browser: Browser = {
    cookie: null,
    async call(method, path, { page = true, headers = {}, ...options } = {}) {
      const own = {
        ...(browser.cookie !== null && { Cookie: browser.cookie }),
        ...(page && { "X-Svc-Dashboard": "1" }),
      };
      const answer = await api.call(method, path, {
        token: null,
        ...options,
        headers: { ...own, ...headers },
      });
      const set = answer.headers.get("set-cookie");
      if (set !== null) browser.cookie = /Max-Age=0/.test(set) ? null : (set.split(";")[0] ?? null);
      return answer;
    },
  };
  return browser;
}

/** Passwords are hashed slowly, so each is set once: servers by their data folders, and whose password is which. */
const set = new Map<string, string>();

/** Sets a user's password like an operator, and signs a browser in with it. */
export async function signedIn(
  api: Pick<Api, "call" | "dataDir">,
  email = "first@example.com",
  password = PASSWORD,
): Promise<Browser> {
  const key = `${api.dataDir} ${email}`;
  if (set.get(key) !== password) await sendAdminCommand(api.dataDir, { verb: "user", email, password });
  set.set(key, password);
  const browser = openBrowser(api);
  const answer = await browser.call("POST", "/v1/auth/sign-in", { body: { email, password } });
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.status} ${answer.text}`);
  return browser;
}
