import type { CrStatusFilter } from "../../../src/contract/change-request.ts";
import { parseSearch, printSearch, type Search, type Term } from "../../../src/contract/search/parse.ts";
import { SORTS, type Sort } from "../../../src/contract/search/qualifiers.ts";

const STATUSES = ["open", "merged", "closed"] as const;

/** Searches that a button adds and removes. */
export const QUICK: readonly { label: string; search: string }[] = [
  { label: "Mine", search: "author:@me" },
  { label: "To review", search: "-author:@me -review:approved -is:draft" },
  { label: "Review requested", search: "review-requested:@me" },
  { label: "Conflicts", search: "mergeable:conflicts" },
  { label: "Failed checks", search: "checks:failure" },
];

/** The search in the address of the page: `?q=`, with `?status=` of other pages before it; the open ones without either. */
export function searchOf(address: URLSearchParams): string {
  const [status, q] = [address.get("status"), address.get("q")];
  const isStatus = STATUSES.find((each) => each === status);
  if (q === null && status === null) return "is:open";
  return [...(isStatus ? [`is:${isStatus}`] : []), ...(q ? [q] : [])].join(" ");
}

/** The status that a search asks for. */
export function statusOf(text: string): CrStatusFilter {
  const asked = read(text).terms.filter(isOfStatus);
  const [first] = asked;
  const status = STATUSES.find((each) => each === first?.value);
  return asked.length === 1 && status && !first?.not ? status : "all";
}

/** The search with this status in the place of another one. */
export function withStatus(text: string, status: CrStatusFilter): string {
  const search = read(text);
  const others = search.terms.filter((term) => !isOfStatus(term));
  const asked: Term[] = status === "all" ? [] : [{ name: "is", value: status, not: false }];
  return printSearch({ ...search, terms: [...asked, ...others] });
}

/** Whether a search has all terms of another one. */
export function includes(text: string, part: string): boolean {
  const { terms } = read(text);
  return read(part).terms.every((wanted) => terms.some((term) => isSame(term, wanted)));
}

/** The search with the terms of another one, in the place of their opposites; or without them if it has them all. */
export function toggle(text: string, part: string): string {
  const [search, { terms }] = [read(text), read(part)];
  const others = search.terms.filter(
    ({ name, value }) => !terms.some((each) => each.name === name && each.value === value),
  );
  return printSearch({ ...search, terms: includes(text, part) ? others : [...others, ...terms] });
}

/** A search for a label. */
export const labelled = (label: string): string =>
  printSearch({ terms: [{ name: "label", value: label, not: false }] });

export const sortOf = (text: string): Sort => read(text).sort ?? SORTS[0];

export function withSort(text: string, sort: Sort): string {
  const { terms } = read(text);
  return printSearch(sort === SORTS[0] ? { terms } : { terms, sort });
}

/** A search that cannot be read has no terms. */
function read(text: string): Search {
  const parsed = parseSearch(text);
  return "search" in parsed ? parsed.search : { terms: [] };
}

const isOfStatus = ({ name, value }: Term): boolean => name === "is" && value !== "draft";

const isSame = (one: Term, other: Term): boolean =>
  one.name === other.name && one.value === other.value && one.not === other.not;
