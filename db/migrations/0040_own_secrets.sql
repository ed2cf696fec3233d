CREATE TABLE "own_secret_projects" (
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	CONSTRAINT "own_secret_projects_user_id_name_project_id_pk" PRIMARY KEY("user_id","name","project_id")
);
--> statement-breakpoint
CREATE TABLE "own_secrets" (
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"value" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "own_secrets_user_id_name_pk" PRIMARY KEY("user_id","name")
);
--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "gets_own_secrets" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "own_secret_projects" ADD CONSTRAINT "own_secret_projects_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "own_secret_projects" ADD CONSTRAINT "own_secret_projects_secret_fk" FOREIGN KEY ("user_id","name") REFERENCES "public"."own_secrets"("user_id","name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "own_secret_projects" ADD CONSTRAINT "own_secret_projects_member_fk" FOREIGN KEY ("account_id","user_id") REFERENCES "public"."account_members"("account_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "own_secrets" ADD CONSTRAINT "own_secrets_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "own_secret_projects_project_id" ON "own_secret_projects" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "own_secret_projects_member" ON "own_secret_projects" USING btree ("account_id","user_id");