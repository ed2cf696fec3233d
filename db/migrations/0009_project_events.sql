CREATE TYPE "public"."event_action" AS ENUM('created', 'changed', 'deleted');--> statement-breakpoint
CREATE TYPE "public"."event_type" AS ENUM('change_request', 'comment', 'approval', 'session', 'branch', 'project', 'secret', 'trigger', 'app');--> statement-breakpoint
CREATE TABLE "project_event_heads" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "project_events" (
	"project_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"type" "event_type" NOT NULL,
	"subject" text NOT NULL,
	"number" integer,
	"action" "event_action" NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "project_events_project_id_seq_pk" PRIMARY KEY("project_id","seq")
);
--> statement-breakpoint
ALTER TABLE "project_event_heads" ADD CONSTRAINT "project_event_heads_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_events" ADD CONSTRAINT "project_events_project_id_project_event_heads_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project_event_heads"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "project_events_at" ON "project_events" USING btree ("at");--> statement-breakpoint
INSERT INTO "project_event_heads" ("project_id", "seq") SELECT "project_id", 0 FROM "projects";