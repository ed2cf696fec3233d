import type { SavedWork } from "../../../src/contract/saved-work.ts";
import type { Session } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { ChangedFiles } from "../../parts/changed-files.tsx";
import { Command } from "../../parts/command.tsx";
import { count } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Patch } from "../../parts/patch.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The unpushed work of a session, as svc saved it. */
export function Saved({ session }: { session: Session }) {
  const { project_id, session_id, saved } = session;
  const commit = saved?.commit ?? "";
  const { data, error, isPending, refetch } = useGet<SavedWork>(
    [project_id, "session", session_id, "saved", commit],
    path`/projects/${project_id}/sessions/${session_id}/saved`,
    { enabled: commit !== "" },
  );
  if (commit === "") {
    return (
      <Empty title="No saved work">
        svc saves unpushed work of the agent while the session is running and when it stops, and shows it
        here.
      </Empty>
    );
  }
  if (isPending) return <Loading what="Loading the saved work" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <section aria-label="Saved work" className="flex flex-col gap-4">
      <p>
        {count(data.files.length, "file")}, saved <Ago at={data.saved_at} />.{" "}
        {saved?.live
          ? "It is in the running sandbox."
          : "Restart the session to restore it, or apply it yourself:"}
      </p>
      {!saved?.live && <Command>{`svc sessions saved ${session_id} | git apply`}</Command>}
      <p className="whitespace-pre-wrap text-muted text-sm">
        <Visible>{data.message}</Visible>
      </p>
      <ChangedFiles files={data.files} />
      {data.truncated && <p className="text-warn">The patch is truncated.</p>}
      {data.patch !== "" && <Patch>{data.patch}</Patch>}
    </section>
  );
}
