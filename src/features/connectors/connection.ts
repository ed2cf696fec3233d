import { and, eq } from "drizzle-orm";
import { projectSecrets } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { OAUTH } from "../../contract/manifest/kinds.ts";
import type { Deps } from "../../deps.ts";
import type { OutboundInit } from "../../lib/outbound.ts";
import { purposeOf } from "../secrets/row.ts";
import { RESPONSE_MAX_BYTES } from "./limits.ts";
import { accessToken } from "./oauth/grant.ts";
import type { ConnectorRow } from "./row.ts";

/** A way to one connector, for one list or call. */
export interface Connection {
  row: ConnectorRow;
  signal: AbortSignal;
  /**
   * Sends a request through the guarded client (`deps.outbound`), with the credential only to the origin that is given.
   * @throws OutboundError
   */
  send(url: URL, init: OutboundInit, credentialFor: string | null): Promise<Response>;
  /** Removes the credential from what the connector returned: it may repeat what it was sent. */
  redact<T>(value: T): T;
}

/**
 * Opens a way to a connector. Everything together must be over in `ms`.
 * @throws secret_missing, connector_failed
 */
export async function openConnection(
  deps: Pick<Deps, "db" | "keys" | "outbound" | "config" | "databaseTime">,
  row: ConnectorRow,
  { signal, ms }: { signal: AbortSignal; ms: number },
): Promise<Connection> {
  const secret = await credentialOf(deps, row);
  const ends = performance.now() + ms;
  return {
    row,
    signal,
    async send(url, init, credentialFor) {
      const headers = new Headers(init.headers);
      headers.set("user-agent", "svc");
      if (secret !== null && url.origin === credentialFor)
        headers.set(row.authHeader ?? "authorization", row.authHeader === null ? `Bearer ${secret}` : secret);
      const left = Math.max(1, ends - performance.now());
      const limits = { firstByteMs: left, idleMs: left, totalMs: left, responseBytes: RESPONSE_MAX_BYTES };
      const until = init.signal ? AbortSignal.any([signal, init.signal]) : signal;
      return await deps.outbound(url, { ...init, headers, signal: until, limits });
    },
    redact: (value) => (secret === null ? value : withoutSecret(value, secret)),
  };
}

/** A header value, so that no error of the HTTP client repeats it. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

async function credentialOf(
  deps: Parameters<typeof openConnection>[0],
  row: ConnectorRow,
): Promise<string | null> {
  if (row.auth === null) return null;
  return row.auth === OAUTH ? await accessToken(deps, row) : await readSecret(deps, row, row.auth);
}

async function readSecret(deps: Pick<Deps, "db" | "keys">, row: ConnectorRow, name: string): Promise<string> {
  const { projectId, slug } = row;
  const isIt = and(eq(projectSecrets.projectId, projectId), eq(projectSecrets.name, name));
  const [found] = await deps.db.select({ value: projectSecrets.value }).from(projectSecrets).where(isIt);
  if (!found)
    throw new SvcError(
      "secret_missing",
      `The connector "${slug}" needs the secret ${name}, which is not set. Set it with: svc secrets set ${name} --for connectors`,
    );
  const value = deps.keys.open(projectId, purposeOf(name), found.value).trim();
  if (SENDABLE.test(value)) return value;
  throw new SvcError(
    "secret_missing",
    `The secret ${name} of the connector "${slug}" cannot be sent in a header: it must be one line of printable ASCII characters. Set it again with: svc secrets set ${name} --for connectors`,
  );
}

const REDACTED = "[redacted]";
/** A shorter text would be found in places that have nothing to do with it. */
const REDACTED_MIN = 4;

function withoutSecret<T>(value: T, secret: string): T {
  if (secret.length < REDACTED_MIN) return value;
  const escaped = escapedIn(secret);
  const forms = new Set([
    secret,
    escaped,
    escapedIn(escaped),
    escapedIn(escapedIn(escaped)),
    encodeURIComponent(secret),
    ...["", "Bearer ", ":"].map((before) => unpadded(before + secret)),
  ]);
  let json = JSON.stringify(value);
  for (const form of [...forms].toSorted((a, b) => b.length - a.length))
    json = json.replaceAll(form, REDACTED);
  return JSON.parse(json);
}

const escapedIn = (text: string): string => JSON.stringify(text).slice(1, -1);
const unpadded = (text: string): string => Buffer.from(text).toString("base64").replace(/=+$/, "");
