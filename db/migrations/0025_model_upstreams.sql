CREATE TYPE "public"."model_format" AS ENUM('openai', 'anthropic');--> statement-breakpoint
CREATE TABLE "model_upstreams" (
	"project_id" uuid NOT NULL,
	"upstream_id" text NOT NULL,
	"format" "model_format" NOT NULL,
	"url" text NOT NULL,
	"key" text NOT NULL,
	"models" json,
	"created_by" uuid,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "model_upstreams_project_id_upstream_id_pk" PRIMARY KEY("project_id","upstream_id")
);
--> statement-breakpoint
ALTER TABLE "model_upstreams" ADD CONSTRAINT "model_upstreams_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_upstreams" ADD CONSTRAINT "model_upstreams_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;