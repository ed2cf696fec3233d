import { Link } from "wouter";
import { Page } from "../parts/page.tsx";

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        The address may be mistyped, or what it showed may be gone.{" "}
        <Link href="/" className="text-accent underline">
          All projects
        </Link>
      </p>
    </Page>
  );
}
