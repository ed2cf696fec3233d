import { useState } from "react";
import type { Deployment, DeploymentDiff } from "../../../src/contract/app.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { ChangedFiles } from "../../parts/changed-files.tsx";
import { count } from "../../parts/count.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Patch } from "../../parts/patch.tsx";
import { shortCommit } from "./state.tsx";

/** What a deployment changed, on request: the diff may be large. */
export function DeploymentChanges({ at, deployment }: { at: string; deployment: Deployment }) {
  const [opened, setOpened] = useState<number | null>(null);
  const { number, commit, previous_commit } = deployment;
  if (previous_commit === null) return null;
  const isOpen = opened === number;
  return (
    <section aria-label={`Changes of deployment ${number}`} className="mb-4 flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold text-lg">Changes of deployment {number}</h2>
        <Button aria-expanded={isOpen} onClick={() => setOpened(isOpen ? null : number)}>
          {isOpen ? "Hide changes" : "Show changes"}
        </Button>
      </div>
      <p className="text-muted text-sm">
        From <span className="font-mono">{shortCommit(previous_commit)}</span>, which was live before, to{" "}
        <span className="font-mono">{shortCommit(commit)}</span>
      </p>
      {isOpen && <Diff at={at} number={number} />}
    </section>
  );
}

function Diff({ at, number }: { at: string; number: number }) {
  const project = useProject();
  const { data, error, refetch } = useGet<DeploymentDiff>(
    [project.project_id, "app-diff", at, number],
    `${at}/deployments${path`/${String(number)}/diff`}`,
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the changes" />;
  if (data.files.length === 0) return <p className="text-muted">No file differs.</p>;
  return (
    <>
      <p>{count(data.files_changed, "file")} changed</p>
      <ChangedFiles files={data.files} />
      {data.truncated && <p className="text-warn">The patch is truncated.</p>}
      {data.patch !== "" && <Patch>{data.patch}</Patch>}
    </>
  );
}
