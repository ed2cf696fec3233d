import { lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { useSignedIn } from "./api/signed-in.ts";
import { Crashed } from "./layout/crashed.tsx";
import { NotFound } from "./layout/not-found.tsx";
import { ProjectShell } from "./layout/project-shell.tsx";
import { Shell } from "./layout/shell.tsx";
import { Loading } from "./parts/loading.tsx";
import { Failure } from "./parts/notice.tsx";

const SignIn = lazy(async () => ({ default: (await import("./pages/sign-in/sign-in.tsx")).SignIn }));
const Projects = lazy(async () => ({ default: (await import("./pages/projects/projects.tsx")).Projects }));

/** Pages for whoever comes: all others ask to sign in first. */
const OPEN = /^\/(?:login|welcome)$/;

/** All pages by their addresses. A page's code is loaded when it is first asked for. */
export function App() {
  const [address] = useLocation();
  return (
    <Crashed key={address}>
      <Suspense fallback={<Loading />}>
        {OPEN.test(address) ? (
          <Switch>
            <Route path="/login" component={SignIn} />
          </Switch>
        ) : (
          <SignedInOnly>
            <Pages />
          </SignedInOnly>
        )}
      </Suspense>
    </Crashed>
  );
}

function Pages() {
  return (
    <Shell>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/" component={Projects} />
          <Route path="/projects/:projectId/*?">
            {({ projectId }) => <ProjectPages projectId={projectId} />}
          </Route>
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Shell>
  );
}

function ProjectPages({ projectId }: { projectId: string }) {
  return (
    <ProjectShell projectId={projectId}>
      <Switch>
        <Route component={NotFound} />
      </Switch>
    </ProjectShell>
  );
}

/** Sends whoever is not signed in to where they can, and back afterwards. */
function SignedInOnly({ children }: { children: React.ReactNode }) {
  const { data, error, refetch } = useSignedIn();
  const [address, go] = useLocation();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading />;
  if (data.signed_in) return children;
  const here = `${address}${window.location.search}`;
  go(here === "/" ? "/login" : `/login?next=${encodeURIComponent(here)}`, { replace: true });
  return null;
}
