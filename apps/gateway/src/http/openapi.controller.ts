import { Controller, Get, Inject } from '@nestjs/common';
import { buildOpenApi, type OpenApiDocument } from '../openapi/build-open-api.ts';
import { API } from './api.table.ts';
import { VERSION } from './tokens.ts';

/** The description of this API, for generators of clients. */
@Controller()
export class OpenApiController {
  readonly #version: string;
  #document: OpenApiDocument | null = null;

  constructor(@Inject(VERSION) version: string) {
    this.#version = version;
  }

  /** Made when it is first asked for. */
  @Get('openapi.json')
  document(): OpenApiDocument {
    this.#document ??= buildOpenApi(API, this.#version);
    return this.#document;
  }
}
