import { useQuery } from "@tanstack/react-query";
import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ProjectManifest } from "../../../src/contract/manifest/wire.ts";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The problems of the manifest on the default branch; nothing if it is valid or cannot be read. */
export function Manifest({ project }: { project: Project }) {
  const { data } = useQuery({
    // pushes, merges and edits of the project change it
    queryKey: [project.project_id, "branch", "manifest", project.updated_at],
    queryFn: ({ signal }) =>
      call<ProjectManifest>("GET", path`/projects/${project.project_id}/manifest`, { signal }),
  });
  if (!data || data.errors.length === 0) return null;
  return <Problems at={data.path} branch={project.default_branch} errors={data.errors} />;
}

function Problems({ at, branch, errors }: { at: string; branch: string; errors: ProjectManifest["errors"] }) {
  return (
    <Section
      title="Manifest"
      about={
        <>
          <Visible>{at}</Visible> on <Visible>{branch}</Visible> configures the project. svc ignores entries
          with errors.
        </>
      }
    >
      <p className="font-medium">It has {tally(errors)}</p>
      <ManifestProblems label="Problems of the manifest" errors={errors} />
      <p className="mt-3 text-muted text-sm">
        Fix it and merge the change. <code>svc validate</code> checks the file on your machine.
      </p>
    </Section>
  );
}
