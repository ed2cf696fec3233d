/**
 * Equivalent mutants, which change nothing that a user could observe: path and changed line. Comments give the reason.
 */
export const SAME: ReadonlySet<string> = new Set([
  // a chunk's size is read before its content is counted
  "src/splice/body.ts: let left = 1;",
  // how much of a long line is buffered before it is parsed; the relevant part comes first
  "src/git/diff/patch.ts: const WHOLE_HEAD_BYTES = 9 * PATH_MAX_BYTES + HEAD_BYTES;",
  "src/git/diff/patch.ts: if (lineEnd < 0 && stop - at <= headBytes) break;",
  // the update has the same condition
  "src/identity/auth/caller.ts: if (row.lastUsedAt && row.lastUsedAt >= due) return;",

  // an expired session is not valid, whether or not its row exists
  "src/identity/auth/browser.ts: await deps.db.delete(browserSessions).where(lte(browserSessions.expiresAt, now));",

  // a default far in the past, and one more cached entry of a thousand
  "src/features/triggers/webhook.ts: if ((full.get(id) ?? 1) > Date.now()) throw tooMany();",
  "src/features/triggers/webhook.ts: if (full.size > KNOWN_MAX) full.clear();",

  // the microsecond at which a claim expires
  "src/features/runs/claim.ts: const isFree = or(isNull(runs.worker), lte(runs.workerUntil, sql`now()`));",

  // a character is at most three bytes in UTF-8, so that only the schema limits the text
  'src/features/checks/set-status.ts: description: description ? storable("description", description, 5 * description.length) : null,',

  // a longer random key
  'src/features/models/key.ts: const key = MODEL_KEY_PREFIX + randomBytes(33).toString("base64url");',

  // answers are found again instead of kept, which only takes longer
  "src/features/models/stored-upstreams.ts: const once = createCache<Upstream[]>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => false);",
  "src/features/models/key.ts: const once = createCache<HeldKey>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => false);",

  // a millisecond more or less to wait for a person, and the one at which a question expires
  "src/features/connectors/ask.ts: if (left < 0 || call.signal.aborted) throw pending(call, ask);",
  "src/features/connectors/ask.ts: if (left <= 1 || call.signal.aborted) throw pending(call, ask);",
  "src/features/connectors/ask.ts: gte(connectorAsks.expiresAt, now),",
  'src/features/connectors/ask.ts: const counts = or(IS_OPEN, and(eq(connectorAsks.state, "denied"), gte(connectorAsks.expiresAt, now)));',
  'src/features/connectors/ask.ts: .where(and(ofProject, eq(connectorAsks.state, "pending"), gte(connectorAsks.expiresAt, now)));',
  "src/features/connectors/ask.ts: .where(and(isIt, IS_OPEN, lt(connectorAsks.expiresAt, now)));",

  // the millisecond at which a consent expires, and a longer random state
  "src/features/connectors/oauth/connect.ts: await deps.db.delete(connectorConsents).where(lte(connectorConsents.expiresAt, now));",
  "src/features/connectors/oauth/connect.ts: if (!asked || asked.expiresAt < now) throw unknownConsent();",
  'src/features/connectors/oauth/connect.ts: const state = `${projectId}.${randomBytes(33).toString("base64url")}`;',

  // the replaced text begins with refs/
  'src/edge/gateway/rules.ts: advice: `Push to ${ref.slice(0, -name.length)}${name.replace(/(?:refs\\/(?:heads\\/|tags\\/)?)+/, "") || "<name>"} instead.`,',
  'src/edge/gateway/rules.ts: advice: `Push to ${ref.slice(0, -name.length)}${name.replace(/^(?:refs\\/(?:heads\\/|tags\\/)?)*/, "") || "<name>"} instead.`,',

  // a base that has not moved contains nothing new: this only saves a query
  "src/features/change-requests/reached.ts: if (head === null || base === undefined || since === null && base === since) return [];",

  // an empty list deletes nothing
  "src/features/change-requests/settle.ts: if (dropped.length >= 0) {",

  // the moment at which the day ends
  "src/features/change-requests/settle.ts: await deps.db.delete(mergeIntents).where(lte(mergeIntents.expiresAt, forget));",

  // a batch size
  "src/features/triggers/due.ts: const AT_ONCE = 21;",

  // the compared values are never equal, and all positive results mean the same
  "src/features/triggers/due.ts: for (const [projectId, rows] of [...byProject].toSorted(([one], [other]) => (one <= other ? -1 : 1))) {",
  "src/features/triggers/due.ts: for (const [projectId, rows] of [...byProject].toSorted(([one], [other]) => (one < other ? -1 : 2))) {",

  // times are whole seconds
  "src/features/triggers/due.ts: before: lastDue(cron, timezone, new Date(last.getTime() - 2)),",

  // only for the types: without a signature there is no body here
  "src/features/triggers/webhook.ts: if (!body && !signature || !isSigned(secret, body, signature)) {",

  // only for the types: a trigger without a schedule is never due, and a due one has a time
  "src/features/triggers/due.ts: if (cron === null && first === null) return;",

  // git writes nothing else there: digits, ids and modes; after a name with a space it writes a tab
  "dashboard/pages/change-requests/diff/patch.ts: const HUNK = /^@@ -(\\d*)(?:,(\\d+))? \\+(\\d+)(?:,(\\d+))? @@ ?(.*)$/s;",
  "dashboard/pages/change-requests/diff/patch.ts: const HUNK = /^@@ -(\\d+)(?:,(\\d*))? \\+(\\d+)(?:,(\\d+))? @@ ?(.*)$/s;",
  "dashboard/pages/change-requests/diff/patch.ts: const HUNK = /^@@ -(\\d+)(?:,(\\d+))? \\+(\\d*)(?:,(\\d+))? @@ ?(.*)$/s;",
  "dashboard/pages/change-requests/diff/patch.ts: const HUNK = /^@@ -(\\d+)(?:,(\\d+))? \\+(\\d+)(?:,(\\d*))? @@ ?(.*)$/s;",
  "dashboard/pages/change-requests/diff/patch.ts: const HUNK = /^@@ -(\\d+)(?:,(\\d+))? \\+(\\d+)(?:,(\\d+))? @@ ?(.*)/s;",
  "dashboard/pages/change-requests/diff/patch.ts: const INDEX = /index ([0-9a-f]+)\\.\\.([0-9a-f]+)(?: (\\d{6}))?$/;",
  "dashboard/pages/change-requests/diff/patch.ts: const INDEX = /^index ([0-9a-f]*)\\.\\.([0-9a-f]+)(?: (\\d{6}))?$/;",
  "dashboard/pages/change-requests/diff/patch.ts: const INDEX = /^index ([0-9a-f]+)\\.\\.([0-9a-f]*)(?: (\\d{6}))?$/;",
  "dashboard/pages/change-requests/diff/patch.ts: const INDEX = /^index ([0-9a-f]+)\\.\\.([0-9a-f]+)(?: (\\d{6}))?/;",
  "dashboard/pages/change-requests/diff/patch.ts: const MODE = /(old mode|new mode|new file mode|deleted file mode) (\\d{6})$/;",
  "dashboard/pages/change-requests/diff/patch.ts: const MODE = /^(old mode|new mode|new file mode|deleted file mode) (\\d{6})/;",
  'dashboard/pages/change-requests/diff/patch.ts: if (line.endsWith("GIT binary patch") || line.startsWith("Binary files ")) into.binary = true;',
]);
