import { entryFor } from "../../../src/contract/egress/refusal.ts";
import type { SessionConnection, SessionNetwork } from "../../../src/contract/network.ts";
import type { Session } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** Refusals that are shown; `svc network ls` lists them all. */
const SHOWN_MAX = 5;

/** The hosts that the session's sandbox could not connect to, with the command that allows one; nothing without any. */
export function Refusals({ session: { project_id, session_id } }: { session: Session }) {
  const { data } = useGet<SessionNetwork>(
    [project_id, "session", session_id, "network"],
    path`/projects/${project_id}/sessions/${session_id}/network`,
  );
  const refused = (data?.connections ?? []).flatMap(toTarget);
  if (refused.length === 0) return null;
  return (
    <Notice kind="warning">
      <ul className="flex flex-col gap-1">
        {refused.slice(0, SHOWN_MAX).map(({ host, port, outcome }) => (
          <li key={`${host}:${port} ${outcome}`}>
            refused:{" "}
            <code>
              <Visible>{`${host}:${port}`}</Visible>
            </code>
            {outcome === "not_allowed" && (
              <>
                ;{" "}
                <code>
                  svc network allow <Visible>{entryFor({ host, port })}</Visible>
                </code>{" "}
                opens a change request
              </>
            )}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function toTarget({ outcome, host, port }: SessionConnection) {
  return outcome === "passed" || host === null || port === null ? [] : [{ outcome, host, port }];
}
