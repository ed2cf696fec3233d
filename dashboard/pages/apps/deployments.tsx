import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { App, Deployment } from "../../../src/contract/app.ts";
import { call } from "../../api/call.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Visible } from "../../parts/visible.tsx";
import { DeploymentState, shortCommit } from "./state.tsx";

interface Props {
  app: App;
  at: string;
  deployments: readonly Deployment[];
  shown: Deployment;
  onShow: (number: number) => void;
}

/** The last deployments of an app, with a button to roll back to each that was live. */
export function Deployments({ app, at, deployments, shown, onShow }: Props) {
  const project = useProject();
  const queries = useQueryClient();
  const [target, setTarget] = useState<number | null>(null);
  const rollBack = useMutation({
    mutationFn: (deployment: number) => call<App>("POST", `${at}/rollback`, { body: { deployment } }),
    onSuccess: async () => {
      setTarget(null);
      await queries.invalidateQueries({ queryKey: [project.project_id, "app"] });
    },
  });
  return (
    <>
      <ul className="mb-6 divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {deployments.map((deployment) => (
          <Row
            key={deployment.deployment_id}
            deployment={deployment}
            isShown={deployment.number === shown.number}
            onShow={() => onShow(deployment.number)}
            onRollBack={
              app.enabled && deployment.live_at !== null && deployment.state !== "live"
                ? () => setTarget(deployment.number)
                : null
            }
          />
        ))}
      </ul>
      {target !== null && (
        <Confirm
          title={`Roll ${app.slug} back to deployment ${target}?`}
          verb="Roll back"
          action={rollBack}
          onConfirm={() => rollBack.mutate(target)}
          onClose={() => setTarget(null)}
        >
          <p>
            svc builds its commit again, with its entry and today's secrets. Until you deploy the app, merges
            do not deploy it.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface RowProps {
  deployment: Deployment;
  isShown: boolean;
  onShow: () => void;
  /** Null: it cannot be rolled back to. */
  onRollBack: (() => void) | null;
}

function Row({ deployment, isShown, onShow, onRollBack }: RowProps) {
  const { number, state, commit, error, created_at, author } = deployment;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">Deployment {number}</span>
          <DeploymentState state={state} />
        </p>
        <p className="text-muted text-sm">
          <span className="font-mono">{shortCommit(commit)}</span> · {reasonOf(deployment)}
          {author && (
            <>
              {" by "}
              <AuthorName author={author} />
            </>
          )}{" "}
          · started <Ago at={created_at} />
        </p>
        {error && (
          <p className="text-muted text-sm">
            <Visible>{error}</Visible>
          </p>
        )}
      </div>
      <div className="flex gap-2">
        {onRollBack && (
          <Button onClick={onRollBack} aria-label={`Roll back to deployment ${number}`}>
            Roll back
          </Button>
        )}
        <Button aria-pressed={isShown} onClick={onShow} aria-label={`Log of deployment ${number}`}>
          Log
        </Button>
      </div>
    </li>
  );
}

function reasonOf({ reason, rollback_to }: Deployment): string {
  if (rollback_to !== null) return `rollback to ${rollback_to}`;
  return { created: "new app", changed: "changed", asked: "deployed", rollback: "rollback" }[reason];
}
