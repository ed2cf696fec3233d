import type { Commit, Verification } from "../../../src/contract/repository.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Command } from "../../parts/command.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useCommits, type Where } from "./queries.ts";

const AND = new Intl.ListFormat("en");

/** Length of an abbreviated commit id. */
const SHORT = 8;

/** The commits of the head branch that the base branch does not have, the newest first. */
export function Commits({ where }: { where: Where }) {
  const list = useCommits(where);
  return (
    <section aria-label="Commits">
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the commits" />}
      {list.isSuccess && list.rows.length === 0 && (
        <p className="py-8 text-center text-muted">
          The base branch contains all commits of the head branch.
        </p>
      )}
      {list.rows.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {list.rows.map((commit) => (
            <Row key={commit.sha} commit={commit} />
          ))}
        </ul>
      )}
      <More list={list} isEnd />
    </section>
  );
}

function Row({ commit }: { commit: Commit }) {
  const { sha, subject, body, author, co_authors, truncated, verification } = commit;
  return (
    <li className="flex flex-col gap-1 px-4 py-3">
      <span className="font-medium">
        <Visible>{subject}</Visible>
      </span>
      <p className="flex flex-wrap gap-x-1.5 text-muted text-sm">
        <code>{sha.slice(0, SHORT)}</code>
        <span>
          by <Visible>{author.name}</Visible>
          {co_authors.length > 0 && (
            <>
              {" "}
              with <Visible>{AND.format(co_authors.map(({ name }) => name))}</Visible>
            </>
          )}
        </span>
        {author.date && <Ago at={author.date} />}
        {verification.verified && <Badge look="ok">Verified</Badge>}
      </p>
      <details className="text-sm">
        <summary className="w-fit text-accent underline">More of {sha.slice(0, SHORT)}</summary>
        <div className="mt-2 flex flex-col gap-2">
          {body !== "" && (
            <p className="whitespace-pre-wrap">
              <Visible>{body}</Visible>
              {truncated && " …"}
            </p>
          )}
          {verification.reason !== "unsigned" && <p className="text-muted">{signatureText(verification)}</p>}
          <Command label={`Copy the id ${sha.slice(0, SHORT)}`}>{sha}</Command>
        </div>
      </details>
    </li>
  );
}

const REASONS: Readonly<Record<Exclude<Verification["reason"], "valid" | "unsigned">, string>> = {
  unknown_signature_type: "It is signed, but not with an SSH key.",
  malformed_signature: "Its signature cannot be read.",
  unknown_key: "It is signed with a key that no user has added.",
  invalid: "Its signature is not valid.",
  bad_email: "It is signed with the key of a user who does not have the committer's e-mail address.",
  unverified_email: "It is signed with a key of its committer, whose e-mail address is not verified.",
  gpgverify_unavailable: "The commit is too large to verify its signature.",
};

function signatureText({ reason, signer }: Verification) {
  if (reason === "unsigned") return null;
  if (reason !== "valid") return REASONS[reason];
  return (
    <>
      Signed with a key of <Visible>{signer?.name ?? ""}</Visible>: <code>{signer?.fingerprint}</code>
    </>
  );
}
