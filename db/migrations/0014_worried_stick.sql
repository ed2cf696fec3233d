CREATE TABLE "project_manifests" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"commit" text,
	"reader" text,
	"errors" json DEFAULT '[]'::json NOT NULL,
	"failure" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"looked_at" timestamp with time zone,
	"next_look_at" timestamp with time zone DEFAULT now() NOT NULL,
	"look" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project_manifests" ADD CONSTRAINT "project_manifests_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "project_manifests_next_look_at" ON "project_manifests" USING btree ("next_look_at");