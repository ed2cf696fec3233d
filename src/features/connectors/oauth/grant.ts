import { setTimeout as sleep } from "node:timers/promises";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { connectorGrants } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import type { ConnectorRow } from "../row.ts";
import { type Registration, refresh } from "./service.ts";

export type GrantRow = typeof connectorGrants.$inferSelect;
type GrantDeps = Pick<Deps, "db" | "keys" | "outbound" | "config" | "databaseTime">;

/** What a person has consented to: sealed in the database. */
interface Grant {
  registration: Registration;
  tokens: OAuthTokens;
}

/** A token is refreshed this long before it expires: a call may take that long. */
const EARLY_MS = 60_000;
/** How long one server may take to refresh a token before another one tries. */
const LEASE_MS = 20_000;
const LOOK_MS = 200;

/** Binds a grant to its connector and to its URL: it cannot be opened, and so not be sent, for another one. */
const purposeOf = ({ slug, url }: Pick<ConnectorRow, "slug" | "url">) => `connector grant ${slug} ${url}`;

/** Stores the tokens of a consent, in the place of earlier ones. */
export async function storeGrant(
  deps: Pick<Deps, "keys">,
  tx: Db,
  connector: Pick<ConnectorRow, "projectId" | "slug" | "url">,
  { registration, tokens, userId, now }: Grant & { userId: string; now: Date },
): Promise<void> {
  const { projectId, slug } = connector;
  const values = {
    url: connector.url ?? "",
    grant: seal(deps, connector, { registration, tokens }),
    expiresAt: expiryOf(tokens, now),
    refreshingUntil: null,
    connectedBy: userId,
    connectedAt: now,
  };
  await tx
    .insert(connectorGrants)
    .values({ projectId, slug, ...values })
    .onConflictDoUpdate({ target: [connectorGrants.projectId, connectorGrants.slug], set: values });
}

/**
 * The access token of a connector, refreshed if it is about to expire: by one server, while the others wait, since a
 * refresh token may be valid once.
 * @throws secret_missing: nobody has connected it, or the access has ended; connector_failed
 */
export async function accessToken(deps: GrantDeps, row: ConnectorRow): Promise<string> {
  for (;;) {
    const found = await findGrant(deps.db, row);
    const grant = found && open(deps, row, found.grant);
    if (!found || !grant) throw notConnected(row);
    const now = await deps.databaseTime(deps.db);
    const isFresh = found.expiresAt === null || found.expiresAt.getTime() - now.getTime() > EARLY_MS;
    if (isFresh) return grant.tokens.access_token;
    if (!(await takeLease(deps.db, found, now))) {
      await sleep(LOOK_MS);
      continue;
    }
    const renewed = await renew(deps, row, { ...grant, stored: found }, now);
    if (renewed) return renewed.access_token;
  }
}

/** The grants of a project, without those for a URL that a connector had before. */
export async function grantsOf(db: Db, rows: readonly ConnectorRow[]): Promise<Map<string, GrantRow>> {
  const [first] = rows;
  if (!first) return new Map();
  const found = await db.select().from(connectorGrants).where(eq(connectorGrants.projectId, first.projectId));
  return new Map(
    found.flatMap((grant) =>
      rows.some(({ slug, url }) => slug === grant.slug && url === grant.url) ? [[grant.slug, grant]] : [],
    ),
  );
}

/** @returns whether there was one */
export async function removeGrant(db: Db, row: Pick<ConnectorRow, "projectId" | "slug">): Promise<boolean> {
  const gone = await db.delete(connectorGrants).where(isOf(row)).returning({ slug: connectorGrants.slug });
  return gone.length > 0;
}

async function findGrant(db: Db, row: ConnectorRow): Promise<GrantRow | null> {
  const [found] = await db
    .select()
    .from(connectorGrants)
    .where(and(isOf(row), eq(connectorGrants.url, row.url ?? "")));
  return found ?? null;
}

/** @returns false: another server refreshes the token, or has done so since `found` was read */
async function takeLease(db: Db, found: GrantRow, now: Date): Promise<boolean> {
  const { refreshingUntil } = connectorGrants;
  const taken = await db
    .update(connectorGrants)
    .set({ refreshingUntil: new Date(now.getTime() + LEASE_MS) })
    .where(and(isStill(found), or(isNull(refreshingUntil), lt(refreshingUntil, now))))
    .returning({ slug: connectorGrants.slug });
  return taken.length > 0;
}

/** @returns null: the access has ended, and the grant is removed */
async function renew(
  deps: GrantDeps,
  row: ConnectorRow,
  { registration, tokens, stored }: Grant & { stored: GrantRow },
  now: Date,
): Promise<OAuthTokens | null> {
  const { refresh_token: refreshToken } = tokens;
  const connector = { slug: row.slug, url: row.url ?? "" };
  try {
    const renewed =
      refreshToken === undefined ? null : await refresh(deps, connector, registration, refreshToken);
    if (renewed === null) {
      await deps.db.delete(connectorGrants).where(isStill(stored));
      return null;
    }
    await deps.db
      .update(connectorGrants)
      .set({
        grant: seal(deps, row, { registration, tokens: renewed }),
        expiresAt: expiryOf(renewed, now),
        refreshingUntil: null,
      })
      .where(isStill(stored));
    return renewed;
  } catch (error) {
    await deps.db.update(connectorGrants).set({ refreshingUntil: null }).where(isStill(stored));
    throw error;
  }
}

/** The same tokens: a person may have connected the connector again meanwhile. Each sealing gives another text. */
const isStill = (stored: GrantRow) => and(isOf(stored), eq(connectorGrants.grant, stored.grant));

const isOf = ({ projectId, slug }: Pick<ConnectorRow, "projectId" | "slug">) =>
  and(eq(connectorGrants.projectId, projectId), eq(connectorGrants.slug, slug));

/** @returns null: the server does not say, so the token is used until it is refused */
function expiryOf({ expires_in: seconds }: OAuthTokens, now: Date): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() + seconds * 1000);
}

function seal(
  { keys }: Pick<Deps, "keys">,
  row: Pick<ConnectorRow, "projectId" | "slug" | "url">,
  grant: Grant,
): string {
  return keys.seal(row.projectId, purposeOf(row), JSON.stringify(grant));
}

/** Null if it was sealed with another master key. */
function open({ keys }: Pick<Deps, "keys">, row: ConnectorRow, sealed: string): Grant | null {
  try {
    return JSON.parse(keys.open(row.projectId, purposeOf(row), sealed));
  } catch {
    return null;
  }
}

function notConnected({ slug }: ConnectorRow): SvcError {
  return new SvcError(
    "secret_missing",
    `The connector "${slug}" is not connected, or its access has ended. An owner or admin connects it with: svc connectors connect ${slug}`,
  );
}
