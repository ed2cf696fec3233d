import { nearest } from "../../../src/contract/nearest.ts";
import { usage } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import type { State } from "./state.ts";

/** The port of a self-hosted server: that of the built-in host `selfhost`. */
export const DEFAULT_PORT = 13_738;
export const DEFAULT_HOST = "127.0.0.1";
/** The longest value: a list of hosts, or a key. */
const VALUE_MAX = 8192;

/** The settings that svc itself chooses, and why they cannot be changed. */
const MANAGED: Readonly<Record<string, string>> = {
  SVC_MASTER_KEY: "Stored secrets and tokens can be read only with the key that they were stored with.",
  SVC_DATA_DIR:
    "The data is in the folder of the self-hosted server. SVC_SELF_HOST_DIR chooses another folder.",
};
const MANAGED_BY_COMPOSE: Readonly<Record<string, string>> = {
  DATABASE_URL: "The database is the one of the Compose project.",
  DOCKER_HOST: "The server's container uses the engine that it runs in.",
  POSTGRES_PASSWORD: "The database was created with this password.",
  SVC_SELF_HOST_DB_PORT: "svc chooses a free port for the database.",
};

/** The settings of svc-api (docs/configuration.md), and a few variables that the programs it starts read. */
export const SETTINGS: readonly string[] = [
  "DATABASE_URL",
  "DOCKER_CERT_PATH",
  "DOCKER_HOST",
  "DOCKER_TLS_VERIFY",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "NO_PROXY",
  "POSTGRES_PASSWORD",
  "SVC_ALLOW_PRIVATE_ADDRESSES",
  "SVC_ALLOW_PRIVATE_REPOS",
  "SVC_ALLOW_SHARED_PREVIEW_DOMAIN",
  "SVC_APP_CAP",
  "SVC_AUDIT_DAYS",
  "SVC_PREVIEW_CAP",
  "SVC_VOLUME_MAX_BYTES",
  "SVC_CHECK_CAP",
  "SVC_STARTS_AT_ONCE",
  "SVC_DATA_DIR",
  "SVC_DOCKER_RUNTIME",
  "SVC_EGRESS",
  "SVC_EGRESS_ALLOW",
  "SVC_GITHUB_CLIENT_ID",
  "SVC_GITHUB_CLIENT_SECRET",
  "SVC_GITHUB_URL",
  "SVC_GIT_HOSTS",
  "SVC_HOST",
  "SVC_IDLE_TIMEOUT",
  "SVC_KUBERNETES_IMAGE",
  "SVC_KUBERNETES_NAMESPACE",
  "SVC_KUBERNETES_RUNTIME_CLASS",
  "SVC_LLM_API_KEY",
  "SVC_LLM_BASE_URL",
  "SVC_LLM_MODEL",
  "SVC_LLM_PROJECT_RATE",
  "SVC_LLM_SESSION_RATE",
  "SVC_LOG_LEVEL",
  "SVC_MAIL_FROM",
  "SVC_MASTER_KEY",
  "SVC_METRICS_LISTEN",
  "SVC_MODELS_FILE",
  "SVC_NO_REPLY_HOST",
  "SVC_NPM_REGISTRY",
  "SVC_ORPHAN_MINUTES",
  "SVC_PORT",
  "SVC_PREVIEW_HOST",
  "SVC_PUBLIC_APPS",
  "SVC_PUBLIC_URL",
  "SVC_RELEASES_DIR",
  "SVC_RUNTIMES_FILE",
  "SVC_RUNTIME_BIN",
  "SVC_SANDBOX_API_URL",
  "SVC_SANDBOX_ISOLATION",
  "SVC_SANDBOX_PROVIDER",
  "SVC_SELF_HOST_DB_PORT",
  "SVC_SELF_HOST_TLS",
  "SVC_SESSION_CAP",
  "SVC_SIGN_UP",
  "SVC_SLACK_API_URL",
  "SVC_SMTP_URL",
  "SVC_SSH_KEYS",
  "SVC_TRUSTED_PROXIES",
  "SVC_WAITING_MINUTES",
];

/**
 * Checks a setting that the operator gives; the empty value removes it.
 * @throws CliError `usage`, without the value if it may be a secret.
 */
export function checkSetting(name: string, value: string, mode: State["mode"]): void {
  const shown = oneLine(name.slice(0, 80));
  if (!SETTINGS.includes(name)) {
    const guess = nearest(name, SETTINGS) ?? SETTINGS.find((known) => known === `SVC_${name}`);
    throw usage(
      `${shown} is not a setting of svc-api.`,
      guess === undefined ? "docs/configuration.md lists the settings." : `Did you mean ${guess}?`,
    );
  }
  const reason = MANAGED[name] ?? (mode === "compose" ? MANAGED_BY_COMPOSE[name] : undefined);
  if (reason !== undefined) throw usage(`${shown} cannot be changed. ${reason}`);
  if (value.length > VALUE_MAX) throw usage(`${shown}: the value is longer than ${VALUE_MAX} characters.`);
  if (/[\p{Cc}\u2028\u2029]/u.test(value)) {
    throw usage(`${shown}: the value must be one line without control characters.`);
  }
  if (value === "") return;
  if (name === "SVC_PORT" && portOf(value) === null) throw usage("SVC_PORT must be a port from 1 to 65535.");
  if (name === "NODE_EXTRA_CA_CERTS" && !value.startsWith("/")) {
    throw usage("NODE_EXTRA_CA_CERTS must be the absolute path of a file.");
  }
  if (name === "SVC_SELF_HOST_TLS" && (value !== "caddy" || mode !== "compose")) {
    throw usage(
      "TLS with Caddy is a setting of a server on Docker Compose: its only value is caddy.",
      "Without Docker, run Caddy yourself: docs/tls.md has the Caddyfile.",
    );
  }
  if (name === "SVC_HOST") checkAddress(value, "SVC_HOST");
}

/** @returns null unless the text is a port that can be published. */
export function portOf(text: string): number | null {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : null;
}

/** @throws CliError `usage` unless it is an IP address or `localhost`. */
export function checkAddress(text: string, where: string): void {
  if (text === "localhost" || process.getBuiltinModule("node:net").isIP(text) !== 0) return;
  throw usage(`${where} must be an IP address of this machine, such as 127.0.0.1 or 0.0.0.0.`);
}

/** Whether the value must not be shown: keys, passwords, and URLs with a password. */
export function isSecret(name: string, value: string): boolean {
  return /(?:_KEY|_SECRET|_PASSWORD|_TOKEN)$/.test(name) || /:\/\/[^/?#]*@/.test(value);
}

/** The settings of the database in a container. */
export const CONTAINER_SETTINGS = ["POSTGRES_PASSWORD", "SVC_SELF_HOST_DB_PORT"] as const;

/** The settings of a new server: no secret has a default. */
export function firstSettings(mode: State["mode"], databasePort: number | null): Map<string, string> {
  const settings = new Map([
    ["SVC_HOST", DEFAULT_HOST],
    ["SVC_PORT", `${DEFAULT_PORT}`],
    ["SVC_MASTER_KEY", randomSecret()],
  ]);
  if (mode === "compose") {
    settings.set("POSTGRES_PASSWORD", randomSecret());
    settings.set("SVC_SELF_HOST_DB_PORT", `${databasePort}`);
  }
  return settings;
}

/** 32 random bytes in hexadecimal: no character needs quoting in a URL, a shell or a dotenv file. */
const randomSecret = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
