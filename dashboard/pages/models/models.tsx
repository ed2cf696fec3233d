import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Upstreams } from "./upstreams.tsx";

/** The services that run a project's models. Owners and admins add some with the project's own key. */
export function Models() {
  const project = useProject();
  return (
    <Upstreams
      of="project"
      queryKey={[project.project_id, "model_upstream"]}
      at={path`/projects/${project.project_id}/model-upstreams`}
      about="The services that run the models of this project's agents. svc calls them, and keeps their keys from the agents."
      empty="Neither the project nor the server has a service for models."
      mayManage={useMayManage(project) === true}
    />
  );
}
