import { randomInt } from "node:crypto";

/** The longest slug: it shares a DNS label of 63 characters with an app's slug. */
const SLUG_MAX = 40;

/** Converts a name to a slug: lower-case letters, digits and single hyphens; `fallback` if the slug would be empty. */
export function slugify(name: string, fallback: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_MAX)
    .replace(/^-+|-+$/g, "");
  return slug || fallback;
}

/** The slug itself at first, then with a short random number, since several callers may race for one name. */
export function slugCandidate(slug: string, attempt: number): string {
  return attempt === 0 ? slug : `${slug.slice(0, SLUG_MAX - 7)}-${randomInt(100_000, 1_000_000)}`;
}
