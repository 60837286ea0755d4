import { Controller, Get, Inject, Req } from '@nestjs/common';
import { modelToolName, toolName, type PublishedContract } from '#contracts';
import type { ToolCatalogue } from '../adapters/tool-catalogue.ts';
import { noQuerySchema } from '../domain/queries.schema.ts';
import { parseShape } from '../domain/requests.schema.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './http-request.ts';
import { ACCESS, TOOLS } from './tokens.ts';

/** The tools that are live for the caller's tenant. */
@Controller('v1/tools')
export class ToolsController {
  readonly #access: Access;
  readonly #tools: ToolCatalogue;

  constructor(@Inject(ACCESS) access: Access, @Inject(TOOLS) tools: ToolCatalogue) {
    this.#access = access;
    this.#tools = tools;
  }

  @Get()
  async list(@Req() request: HttpRequest): Promise<object> {
    const caller = this.#access.identify(request);
    parseShape(noQuerySchema, request.query, 'The query has the wrong shape');
    return { items: (await this.#tools.list(caller.tenant)).map(toView), next: null };
  }
}

/** What a caller needs to use the tool; where and how it runs is the executor's affair. */
const toView = ({ digest, contract }: PublishedContract): object => ({
  tool: toolName(contract),
  version: contract.version,
  digest,
  modelName: modelToolName(contract),
  layer: contract.layer,
  title: contract.title,
  description: contract.description,
  whenToUse: contract.whenToUse,
  whenNotToUse: contract.whenNotToUse,
  input: contract.input,
  output: contract.output,
  sideEffects: contract.sideEffects,
  risk: contract.risk,
  approval: contract.approval.mode,
});
