import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AnswerAskBody, ConnectorAsk } from "../../../src/contract/connector.ts";
import type { Session } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The connector calls of a session's agent that wait for a person. */
export function Asks({ session }: { session: Session }) {
  const { project_id, session_id } = session;
  const { data } = useGet<{ asks: ConnectorAsk[] }>(
    [project_id, "connector_ask"],
    path`/projects/${project_id}/connector-asks?state=pending`,
  );
  const own = (data?.asks ?? []).filter((ask) => ask.session_id === session_id);
  if (own.length === 0) return null;
  return (
    <section aria-label="Calls that need your approval" className="flex flex-col gap-2">
      {own.map((ask) => (
        <Ask key={ask.ask_id} projectId={project_id} ask={ask} />
      ))}
    </section>
  );
}

function Ask({ projectId, ask }: { projectId: string; ask: ConnectorAsk }) {
  const queries = useQueryClient();
  const answering = useMutation({
    mutationFn: (body: AnswerAskBody) =>
      call("POST", path`/projects/${projectId}/connector-asks/${ask.ask_id}/answer`, { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: [projectId, "connector_ask"] }),
  });
  const answer = answering.variables?.answer;
  return (
    <div className="rounded-lg border border-warn bg-surface p-4">
      <p>
        The agent wants to call{" "}
        <strong className="font-mono">
          <Visible>{ask.tool}</Visible>
        </strong>{" "}
        of the connector <strong>{ask.connector}</strong>, once, with:
      </p>
      <pre className="my-2 max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-md bg-raised p-2 font-mono text-sm">
        <Visible>{ask.arguments}</Visible>
      </pre>
      <div className="flex gap-2">
        <Button
          look="primary"
          busy={answering.isPending && answer === "approve"}
          onClick={() => answering.mutate({ answer: "approve" })}
        >
          Approve
        </Button>
        <Button
          busy={answering.isPending && answer === "deny"}
          onClick={() => answering.mutate({ answer: "deny" })}
        >
          Deny
        </Button>
      </div>
      <Failure error={answering.error} />
    </div>
  );
}
