CREATE TABLE "servers" (
	"id" text PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"steady_since" timestamp with time zone DEFAULT now() NOT NULL,
	"gone_at" timestamp with time zone
);--> statement-breakpoint
-- whose sandboxes there are by now: they are waited for as for any other
INSERT INTO "servers" ("id") SELECT DISTINCT "place" FROM "project_sessions" WHERE "place" <> 'kubernetes';
