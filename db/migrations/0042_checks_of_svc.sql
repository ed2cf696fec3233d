CREATE TYPE "public"."check_state" AS ENUM('queued', 'running', 'success', 'failure', 'error', 'cancelled');--> statement-breakpoint
CREATE TABLE "checks" (
	"check_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"sha" text NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"head_ref" text NOT NULL,
	"state" "check_state" DEFAULT 'queued' NOT NULL,
	"description" text,
	"attempt" integer DEFAULT 1 NOT NULL,
	"run_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "commit_statuses" ALTER COLUMN "created_by" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "checked_sha" text;--> statement-breakpoint
ALTER TABLE "project_manifests" ADD COLUMN "checks" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "checks" ADD CONSTRAINT "checks_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checks" ADD CONSTRAINT "checks_run_id_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("run_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "checks_name" ON "checks" USING btree ("project_id","sha","name");--> statement-breakpoint
CREATE INDEX "checks_run_id" ON "checks" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "checks_open" ON "checks" USING btree ("created_at") WHERE "checks"."ended_at" is null;--> statement-breakpoint
UPDATE "change_requests" SET "checked_sha" = "head_commit_sha" WHERE "status" = 'open';--> statement-breakpoint
CREATE INDEX "change_requests_unchecked" ON "change_requests" USING btree ("updated_at") WHERE "change_requests"."status" = 'open' and "change_requests"."head_commit_sha" is not null and "change_requests"."checked_sha" is distinct from "change_requests"."head_commit_sha";