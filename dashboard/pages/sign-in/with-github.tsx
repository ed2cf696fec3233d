import { useSignedIn } from "../../api/signed-in.ts";

interface Props {
  /** What it does: to sign in, or to join. */
  verb: string;
  /** What comes along: `next`, the page to come to, or `invitation`, a link's token. */
  query: { next: string } | { invitation: string };
}

/** The way by GitHub, where the server's operator has one: out of this page and back. */
export function WithGithub({ verb, query }: Props) {
  const { data: rules } = useSignedIn();
  if (!rules?.github) return null;
  return (
    <a
      href={`/v1/auth/github?${new URLSearchParams({ ...query })}`}
      className="inline-flex min-h-9 items-center justify-center rounded-md border border-edge px-3 py-1.5 font-medium text-ink no-underline hover:bg-raised"
    >
      {verb} with GitHub
    </a>
  );
}
