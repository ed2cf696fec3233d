import type { AppDomain } from "../../../src/contract/app-domain.ts";
import type { View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { oneLine } from "../../text.ts";

/** The domains of an app, as a table for a terminal or as rows for a script. */
export const domainsOf = (domains: readonly AppDomain[], view: View): string =>
  domains.length === 0 ? "" : table(domains, COLUMNS, view);

const COLUMNS: readonly Column<AppDomain>[] = [
  { title: "DOMAIN", value: ({ domain }) => domain, paint: (_, view) => view.paint.cyan },
  {
    title: "STATE",
    value: ({ state }) => state,
    paint: ({ state }, { paint }) => (state === "proven" ? paint.green : paint.yellow),
  },
  {
    title: "CHECKED",
    value: ({ checked_at }) => checked_at ?? "",
    shown: ({ checked_at }, view) => (checked_at === null ? "" : ago(checked_at, view.now)),
    paint: (_, view) => view.paint.dim,
  },
  { title: "ADDRESS", value: ({ url }) => url ?? "", flexible: true },
];

/** What is known of a domain, and the records that it needs. */
export function domainText(found: AppDomain, { paint }: View): string {
  const { domain, state, record, target } = found;
  const paintState = state === "proven" ? paint.green : paint.yellow;
  const first = `${paintState(oneLine(domain))}: ${sentenceOf(found)}\n`;
  if (state === "proven") return first;
  return `${first}
Publish this record, which proves that the domain is yours, and keep it:
  ${oneLine(record.name)}  TXT  ${oneLine(record.value)}
Point the domain to this server, such as with:
  ${oneLine(domain)}  CNAME  ${oneLine(target)}
`;
}

/** What the last check found, and what follows for the address. */
export function sentenceOf({ state, problem, url, served_until }: AppDomain): string {
  if (state === "proven")
    return url === null
      ? 'proven, but not served: the app is not public. Set access = "public" in its entry of svc.toml.'
      : `served at ${oneLine(url)}`;
  const why = {
    missing: "its TXT record was not found",
    unanswered: "the DNS resolver did not answer",
    taken: "another account on this server has proved that the domain is its own",
  };
  const reason = problem === null ? "it was not checked yet" : why[problem];
  return state === "lost" && served_until !== null
    ? `${reason}, so it is served only until ${oneLine(served_until)}.`
    : `not served: ${reason}.`;
}
