import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Project } from "../../../src/contract/project.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { useMayManage } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The end of a project, for who may bring it about. */
export function DeleteProject({ project }: { project: Project }) {
  const [isAsking, setIsAsking] = useState(false);
  const mayManage = useMayManage(project);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => call("DELETE", path`/projects/${project.project_id}`),
    onSuccess: async () => {
      go("/");
      queries.removeQueries({ predicate: ({ queryKey: [first] }) => first === project.project_id });
      await queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  return (
    <Section
      title="Delete the project"
      about={
        project.managed
          ? "Its repository, change requests, sessions, secrets and tokens go with it. None of it comes back."
          : "Its change requests, sessions, secrets and tokens go with it. The repository on its git host stays as it is."
      }
      isDanger
    >
      {mayManage === false ? (
        <p className="text-muted">Only an owner or an admin of the account can delete it.</p>
      ) : (
        <Button look="danger" onClick={() => setIsAsking(true)}>
          Delete the project …
        </Button>
      )}
      {isAsking && (
        <Confirm
          title={`Delete ${project.slug}?`}
          verb="Delete the project"
          typed={project.slug}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setIsAsking(false)}
        >
          <p>
            <Visible>{project.name}</Visible> and all that svc has of it will be gone.
            {project.managed && " Nobody else has its repository: clone it first if you want to keep it."}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
