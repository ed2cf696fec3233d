import type { ReactNode } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { CheckList } from "../../../src/contract/check.ts";
import type { SentToSession } from "../../../src/contract/comment.ts";
import type { CombinedStatus, CommitStatus } from "../../../src/contract/commit-status.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Visible } from "../../parts/visible.tsx";
import { CheckRun } from "./check-run.tsx";
import { OwnCheck } from "./own-check.tsx";
import { useAct, type Where } from "./queries.ts";
import { SentNotice } from "./send-to-session.tsx";

const LOOKS = {
  success: ["ok", "passed"],
  failure: ["danger", "failed"],
  error: ["danger", "failed"],
  pending: ["pending", "pending"],
  none: ["muted", "not reported yet"],
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
  const own = useGet<CheckList>(
    [projectId, "change_request", where.cr, "own-checks", sha],
    `${path`/projects/${projectId}/change-requests/${where.cr}`}/checks`,
    { enabled: sha !== null && checks.total > 0 },
  );
  if (checks.state === "none") return null;
  const ownOf = (context: string) => own.data?.checks.find(({ name }) => name === context);
  const isOpen = cr.status === "open";
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
        {statuses.map((status) => {
          const { check_run_id: run, context } = status;
          const check = run === null ? ownOf(context) : undefined;
          return (
            <Check key={status.id} {...status} isRequired={isRequired(context)}>
              {run !== null && <CheckRun where={where} id={run} name={context} />}
              {check && <OwnCheck where={where} check={check} isOpen={isOpen} />}
            </Check>
          );
        })}
        {missing.map(({ context }) => (
          <Check key={context} context={context} {...NOT_REPORTED} />
        ))}
      </ul>
      <Failure error={found.error ?? own.error} />
      {isOpen && checks.failed > 0 && <SendChecks where={where} />}
    </section>
  );
}

/** Sends the failed checks, with the ends of their logs, to the session that works on the branch. */
function SendChecks({ where }: { where: Where }) {
  const act = useAct<SentToSession>(where);
  return (
    <>
      <Button
        className="self-start"
        busy={act.isPending}
        onClick={() => act.mutate({ at: "/checks/send-to-session", body: {} })}
      >
        Send failed checks to the session
      </Button>
      <Failure error={act.error} />
      {act.data && <SentNotice sent={act.data} />}
    </>
  );
}

const NOT_REPORTED = { state: "none", description: null, target_url: null, isRequired: true } as const;

interface CheckProps extends Pick<CommitStatus, "context" | "description" | "target_url"> {
  state: keyof typeof LOOKS;
  isRequired: boolean;
  children?: ReactNode;
}

function Check({ context, state, description, target_url: url, isRequired, children }: CheckProps) {
  const [look, word] = LOOKS[state];
  return (
    <li className="flex flex-col gap-1 text-sm">
      <span className="flex gap-1.5">
        <span className="mt-px shrink-0">
          <StateIcon look={look} />
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
      </span>
      {children}
    </li>
  );
}
