import { bind, type Command, spec } from "../spec.ts";

export const login = spec({
  path: ["login"],
  summary: "Sign in to a host and store its token",
  about: [
    "Without --token, you confirm the sign-in in a browser, on this or another machine. The token is stored in the configuration file (`svc help environment`), readable only by you.",
    "Some hosts support only sign-in with a token. Their operator creates one with `svc-api admin token --email <you>`.",
  ],
  args: [],
  flags: {
    token: {
      kind: "string",
      value: "pat",
      guesses: ["with-token"],
      summary:
        "Sign in with this token; `-` reads it from standard input, so that it is not in the shell's history",
    },
    api: {
      kind: "string",
      value: "url",
      guesses: ["url", "server"],
      summary: "Address of the host's API; a new address is registered as a host",
    },
  },
  fields: ["host", "host_url", "kind", "user_id", "email", "project_id", "session_id", "active"],
  examples: [
    ["svc login", "Sign in to the active host through a browser"],
    [
      "svc-api admin token --email you@example.com | svc login --token -",
      "Sign in to a server on this machine",
    ],
    ["svc login --host team --api https://svc.example.com --token -", "Register a host and sign in to it"],
  ],
});

export const logout = spec({
  path: ["logout"],
  summary: "Revoke and remove the token of the active host, or of --host",
  about: [
    "The token stops working everywhere it is used. If the server does not respond, the token is removed here but stays valid there, with a warning.",
  ],
  args: [],
  flags: {},
  fields: ["host", "signed_out", "revoked"],
  examples: [
    ["svc logout", "Revoke and remove the active host's token"],
    ["svc logout --host team", "The same for another host"],
  ],
});

export const whoami = spec({
  path: ["whoami"],
  summary: "Show the user and host of the current token",
  args: [],
  flags: {},
  fields: [
    "kind",
    "user_id",
    "email",
    "name",
    "account",
    "accounts",
    "project_id",
    "project_name",
    "session_id",
    "scopes",
    "expires_at",
    "host",
    "host_url",
    "token_source",
  ],
  examples: [
    ["svc whoami", "User and account, or project and session in a sandbox"],
    ["svc whoami --jq .email", "Only the address"],
  ],
});

export const account: Command[] = [
  bind(login, () => import("../commands/login.ts").then((module) => module.login)),
  bind(logout, () => import("../commands/logout.ts").then((module) => module.logout)),
  bind(whoami, () => import("../commands/whoami.ts").then((module) => module.whoami)),
];
