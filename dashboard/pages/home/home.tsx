import { Plus } from "lucide-react";
import { useInbox } from "../../api/inbox.ts";
import { LinkButton } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { Projects, useProjects } from "../projects/projects.tsx";
import { Board } from "./board.tsx";
import { Needs } from "./needs.tsx";

/** The start page: what needs the user, their sessions, and their projects. */
export function Home() {
  const { data, error, isPending, refetch } = useInbox();
  const projects = useProjects("");
  useRowKeys();
  return (
    <Page
      title="Home"
      actions={
        <LinkButton to="/new" look="primary">
          <Plus className="size-4" />
          New project
        </LinkButton>
      }
    >
      {/* all at once: a part that comes later would push the others down */}
      {isPending || projects.isPending ? (
        <Loading what="Loading what needs you" />
      ) : (
        <div className="flex flex-col gap-8">
          <Failure error={error} retry={() => void refetch()} />
          {data && <Needs inbox={data} projects={projects.rows} />}
          {data && data.sessions.length > 0 && <Board sessions={data.sessions} />}
          <Projects />
        </div>
      )}
    </Page>
  );
}
