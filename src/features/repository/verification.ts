import { eq, inArray } from "drizzle-orm";
import { signingKeys, users } from "../../../db/schema/index.ts";
import type { Verification } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import type { CommitSignature, LoggedCommit } from "../../git/git.ts";
import { keyFingerprint } from "../../identity/accounts/signing-keys.ts";

interface KeyOwner {
  userId: string;
  name: string;
  email: string;
  emailProven: boolean;
}

/**
 * Whose key each commit is signed with. The keys are read each time: one that was removed verifies nothing from then on.
 * @param commits with their signatures
 */
export async function verificationsOf(
  { db }: Pick<Deps, "db">,
  commits: readonly LoggedCommit[],
): Promise<Verification[]> {
  const keys = new Set(
    commits.flatMap(({ signature }) => (signature?.state === "valid" ? signature.key : [])),
  );
  const rows =
    keys.size === 0
      ? []
      : await db
          .select({
            ...{ key: signingKeys.key, userId: users.userId, name: users.name },
            ...{ email: users.email, emailProven: users.emailProven },
          })
          .from(signingKeys)
          .innerJoin(users, eq(users.userId, signingKeys.userId))
          .where(inArray(signingKeys.key, [...keys]));
  const owners = Map.groupBy(rows, ({ key }) => key);
  return commits.map((commit) => verify(commit, owners));
}

/** Why a signature verifies nothing, before its key is known. */
const REASONS = {
  unsigned: "unsigned",
  unknown_signature_type: "unknown_signature_type",
  malformed: "malformed_signature",
  unknown_key: "unknown_key",
  invalid: "invalid",
  unavailable: "gpgverify_unavailable",
} as const satisfies Record<Exclude<CommitSignature["state"], "valid">, Verification["reason"]>;

/** Verified: the key belongs to a user whose verified address is the committer's. */
function verify(
  { signature = { state: "unavailable" }, committer }: LoggedCommit,
  owners: ReadonlyMap<string, readonly KeyOwner[]>,
): Verification {
  if (signature.state !== "valid") return unverified(REASONS[signature.state]);
  const own = owners.get(signature.key) ?? [];
  if (own.length === 0) return unverified("unknown_key");
  const signer = own.find(({ email }) => email === committer.email.toLowerCase());
  if (!signer) return unverified("bad_email");
  if (!signer.emailProven) return unverified("unverified_email");
  const { userId: user_id, name } = signer;
  const fingerprint = keyFingerprint(signature.key);
  return { verified: true, reason: "valid", signer: { user_id, name, fingerprint } };
}

const unverified = (reason: Verification["reason"]): Verification => ({
  verified: false,
  reason,
  signer: null,
});
