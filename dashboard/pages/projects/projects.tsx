import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";

interface Answer {
  projects: Project[];
  next_cursor?: string;
}

/** Every project that the reader may see. */
export function Projects() {
  const list = useInfiniteQuery({
    queryKey: ["projects"],
    queryFn: ({ pageParam, signal }) =>
      call<Answer>("GET", `/projects${pageParam && `?cursor=${encodeURIComponent(pageParam)}`}`, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const projects = list.data?.pages.flatMap((page) => page.projects) ?? [];
  return (
    <Page
      title="Projects"
      actions={
        <LinkButton to="/new" look="primary">
          New project
        </LinkButton>
      }
    >
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the projects" />}
      {list.isSuccess && projects.length === 0 && (
        <Empty
          title="There is no project yet"
          command='svc projects new --repo "$(git remote get-url origin)" --link'
        >
          Make one here from a repository's address, or in your own clone of it:
        </Empty>
      )}
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {projects.map((project) => (
          <li
            key={project.project_id}
            className="relative rounded-lg border border-line bg-surface p-4 hover:border-edge"
          >
            <h2 className="font-semibold">
              <Link
                href={path`/projects/${project.slug}`}
                className="text-ink no-underline after:absolute after:inset-0"
              >
                <Visible>{project.name}</Visible>
              </Link>
            </h2>
            <p className="mt-1 text-muted text-sm">
              {project.managed ? "Hosted by svc" : <Visible>{project.repo_url}</Visible>}
            </p>
            <p className="mt-2 text-muted text-sm">
              Changed <Ago at={project.updated_at} />
            </p>
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="mt-4">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </Page>
  );
}
