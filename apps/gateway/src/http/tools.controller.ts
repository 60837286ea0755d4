import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { modelToolName, toolName } from '#contracts';
import type { StandingContract } from '#registry';
import type { ToolCatalogue } from '../adapters/tool-catalogue.ts';
import { notFound } from '../domain/problem.ts';
import { mayUse } from '../domain/tool-scope.ts';
import type { Access } from './access.ts';
import { answerTagged } from './entity-tag.ts';
import type { HttpReply, HttpRequest } from './http-request.ts';
import { refuseQuery } from './read-query.ts';
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
  async list(@Req() request: HttpRequest, @Res({ passthrough: true }) reply: HttpReply): Promise<unknown> {
    const caller = this.#access.identify(request);
    refuseQuery(request);
    const tools = (await this.#tools.list(caller.tenant)).filter(({ contract }) => mayUse(caller, toolName(contract)));
    return answerTagged(request.headers, reply, { items: tools.map(toView), next: null });
  }

  @Get(':name')
  async show(
    @Req() request: HttpRequest,
    @Res({ passthrough: true }) reply: HttpReply,
    @Param('name') name: string,
  ): Promise<unknown> {
    const caller = this.#access.identify(request);
    refuseQuery(request);
    const found = await this.#tools.contract(caller.tenant, name);
    if (!found || !mayUse(caller, toolName(found.contract))) throw notFound('tool');
    const { execution: _execution, ...contract } = found.contract;
    const { digest, live } = found;
    const deprecated = found.standing === 'deprecated';
    const modelName = modelToolName(found.contract);
    const tool = toolName(found.contract);
    const shown = { tool, version: contract.version, digest, modelName, live, deprecated, contract };
    return answerTagged(request.headers, reply, shown);
  }
}

/** What a caller needs to use the tool; where and how it runs is the executor's affair. */
const toView = ({ digest, contract, standing }: StandingContract): object => ({
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
  ...(standing === 'deprecated' ? { deprecated: true } : {}),
});
