import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { CombinedStatus, CommitStatus } from "../../../src/contract/commit-status.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { Where } from "./queries.ts";

const LOOKS = {
  success: ["text-ok", "✓", "passed"],
  failure: ["text-danger", "✕", "failed"],
  error: ["text-danger", "✕", "failed"],
  pending: ["text-muted", "…", "pending"],
  none: ["text-muted", "○", "not reported yet"],
} as const;

/** The checks of a change request's head commit. Nothing without any. */
export function Checks({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const { checks, head_commit_sha: sha } = cr;
  const { projectId } = where;
  const found = useGet<CombinedStatus>(
    // an event of a check refetches it with the change request
    [projectId, "change_request", where.cr, "checks", sha],
    path`/projects/${projectId}/commits/${sha ?? ""}/status`,
    { enabled: sha !== null && checks.total > 0 },
  );
  if (checks.state === "none") return null;
  const statuses = checks.total > 0 ? (found.data?.statuses ?? []) : [];
  const missing = checks.required.filter(({ state }) => state === null);
  const isRequired = (context: string) => checks.required.some((each) => each.context === context);
  return (
    <section aria-labelledby="checks" className="flex flex-col gap-2">
      <h2 id="checks" className="font-semibold">
        Checks
      </h2>
      <p role="status" className="text-muted text-sm">
        {`${checks.passed} of ${checks.total + missing.length} passed`}
        {checks.failed > 0 && `, ${checks.failed} failed`}
      </p>
      <ul className="flex flex-col gap-1">
        {statuses.map((status) => (
          <Check key={status.id} {...status} isRequired={isRequired(status.context)} />
        ))}
        {missing.map(({ context }) => (
          <Check key={context} context={context} {...NOT_REPORTED} />
        ))}
      </ul>
      <Failure error={found.error} />
    </section>
  );
}

const NOT_REPORTED = { state: "none", description: null, target_url: null, isRequired: true } as const;

interface CheckProps extends Pick<CommitStatus, "context" | "description" | "target_url"> {
  state: keyof typeof LOOKS;
  isRequired: boolean;
}

function Check({ context, state, description, target_url: url, isRequired }: CheckProps) {
  const [look, sign, word] = LOOKS[state];
  return (
    <li className="flex gap-1.5 text-sm">
      <span aria-hidden="true" className={look}>
        {sign}
      </span>
      <span className="min-w-0 break-words">
        <Visible>{context}</Visible>{" "}
        <span className="text-muted">
          {word}
          {isRequired && ", required"}
          {description !== null && (
            <>
              {": "}
              <Visible>{description}</Visible>
            </>
          )}
        </span>{" "}
        {url !== null && /^https?:\/\//.test(url) && (
          <a
            href={url}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className="text-accent underline"
            aria-label={`Details of ${context}`}
          >
            Details
          </a>
        )}
      </span>
    </li>
  );
}
