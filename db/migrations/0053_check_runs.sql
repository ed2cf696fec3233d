CREATE TYPE "public"."annotation_level" AS ENUM('notice', 'warning', 'failure');--> statement-breakpoint
CREATE TYPE "public"."check_run_conclusion" AS ENUM('success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required', 'stale');--> statement-breakpoint
CREATE TYPE "public"."check_run_status" AS ENUM('queued', 'in_progress', 'completed');--> statement-breakpoint
CREATE TABLE "check_run_annotations" (
	"check_run_id" bigint NOT NULL,
	"place" integer NOT NULL,
	"path" text NOT NULL,
	"start_line" integer NOT NULL,
	"end_line" integer NOT NULL,
	"start_column" integer,
	"end_column" integer,
	"level" "annotation_level" NOT NULL,
	"title" text,
	"message" text NOT NULL,
	"raw_details" text,
	CONSTRAINT "check_run_annotations_check_run_id_place_pk" PRIMARY KEY("check_run_id","place")
);
--> statement-breakpoint
CREATE TABLE "check_runs" (
	"check_run_id" bigserial PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"sha" text NOT NULL,
	"name" text NOT NULL,
	"status" "check_run_status" NOT NULL,
	"conclusion" "check_run_conclusion",
	"details_url" text,
	"external_id" text,
	"title" text,
	"summary" text,
	"text" text,
	"annotations_count" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"created_by" uuid NOT NULL,
	"created_actor" jsonb,
	CONSTRAINT "check_runs_conclusion" CHECK (("check_runs"."status" = 'completed') = ("check_runs"."conclusion" is not null))
);
--> statement-breakpoint
DROP INDEX "commit_statuses_context";--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD COLUMN "check_run_id" bigint;--> statement-breakpoint
ALTER TABLE "check_run_annotations" ADD CONSTRAINT "check_run_annotations_check_run_id_check_runs_check_run_id_fk" FOREIGN KEY ("check_run_id") REFERENCES "public"."check_runs"("check_run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "check_runs" ADD CONSTRAINT "check_runs_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "check_runs" ADD CONSTRAINT "check_runs_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "check_runs_name" ON "check_runs" USING btree ("project_id","sha","name","check_run_id");--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD CONSTRAINT "commit_statuses_check_run_id_check_runs_check_run_id_fk" FOREIGN KEY ("check_run_id") REFERENCES "public"."check_runs"("check_run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "commit_statuses_check_run_id" ON "commit_statuses" USING btree ("check_run_id") WHERE "commit_statuses"."check_run_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "commit_statuses_context" ON "commit_statuses" USING btree ("project_id","sha","context",("check_run_id" is not null));