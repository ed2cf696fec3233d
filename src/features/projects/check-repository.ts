import { SvcError } from "../../contract/errors.ts";
import { TOKEN_USER } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Credential, Repository } from "../../git/git.ts";
import { checkBranchName } from "../../git/refs.ts";
import { shorten } from "../../http/text.ts";

/** Longer than usual: a host may be slow on first contact. */
const FIRST_LISTING_MS = 20_000;
/** The assumed default branch of an empty repository. */
export const FIRST_BRANCH = "main";
/** Branches in an error message. */
const NAMES_MAX = 10;

/**
 * Lists the branches of the remote, so that a project with a wrong URL, credential or branch is never stored.
 * @returns the default branch: the given one, else the one that the remote's HEAD names.
 * @throws repo_unreachable, invalid_repo_url, repo_not_allowed, invalid_ref, ref_not_found.
 */
export async function checkRepository(
  deps: Deps,
  repo: Repository,
  wanted: string | undefined,
): Promise<string> {
  const branch = wanted === undefined ? null : checkBranchName(wanted);
  const listing = await deps.git.listBranches(repo, FIRST_LISTING_MS);
  if (branch === null) return listing.head ?? soleBranch(listing) ?? FIRST_BRANCH;
  if (listing.tips.size > 0 && !listing.tips.has(branch)) {
    throw new SvcError(
      "ref_not_found",
      `The repository has no branch "${branch}". It has: ${namesOf(listing)}. Choose one of them as the default branch (--branch).`,
    );
  }
  return branch;
}

/** The credential to store: the given one, else the one in the URL. */
export function chooseCredential(
  given: { username?: string | undefined; token?: string | undefined },
  inUrl: Credential | null,
): Credential | null {
  if (given.token === undefined) return inUrl;
  const plain = isPrivateKey(given.token) ? [given.username ?? ""] : [given.username ?? "", given.token];
  if (plain.some((text) => /\p{Cc}/u.test(text)) || given.token.includes("\0")) {
    throw new SvcError(
      "validation_failed",
      "The user name and the token must not contain control characters.",
    );
  }
  return { username: given.username ?? inUrl?.username ?? TOKEN_USER, token: given.token };
}

function namesOf({ tips }: Branches): string {
  const names = [...tips.keys()];
  return names.slice(0, NAMES_MAX).map(shorten).join(", ") + (names.length > NAMES_MAX ? ", …" : "");
}

function isPrivateKey(text: string): boolean {
  return text.startsWith("-----BEGIN ");
}

function soleBranch(listing: Branches): string | null {
  const [first, second] = listing.tips.keys();
  return second === undefined ? (first ?? null) : null;
}
